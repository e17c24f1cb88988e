import Foundation
import RichPushClient
import Testing

/// `/api/openapi.json` against the server that it describes.
@Suite(.timeLimit(.minutes(30))) struct DescriptionSystemTests {
  @Test func `schemathesis finds nothing that the description does not say`() async throws {
    try await RunningServer.lend(flags: [
      "--connections-per-address", "100", "--compat", "webhooks",
    ]) { scratch in
      // Content that is filled in.
      for (name, isProgram) in [("plugin.json", false), ("coupon", true)] {
        try scratch.drop(
          Package.bytes("plugins/examples/coupon/" + name), as: "plugins/coupon/" + name,
          executable: isProgram)
      }
      let data = scratch.folder.path + "/var"
      _ = try await Child.run(
        "richpush", ["user", "add", "alice", "--role", "publisher", "--data", data],
        input: "a-good-secret\n")
    } to: { server in
      let address = "http://127.0.0.1:\(server.port)"
      let settings = try server.scratch.drop(Array(Self.settings.utf8), as: "judge/settings.toml")
      try server.scratch.drop(Array(Self.hooks.utf8), as: "judge/hooks.py")
      let judged = try await Tool.run(
        "schemathesis",
        [
          "--config-file", settings.path, "run", address + "/api/openapi.json", "--url", address,
          "--auth", "alice:a-good-secret",
          "--phases", "examples,coverage,fuzzing", "--seed", "1",
          // An answer without content, which only clients that name JSON do not get, has no schema.
          "--header", "Accept: application/json",
          "--max-examples", "\(Soak.amount(short: 3, long: 100))",
          // Streams never end; guests' passwords are LoginTests', where too many wrong ones make 429.
          "--exclude-path-regex", "/stream$", "--exclude-checks", "ignored_auth",
          "--request-timeout", "20",
          "--generation-database", "none", "--no-color", "--warnings", "off",
        ],
        environment: [
          "SCHEMATHESIS_HOOKS": "hooks",
          "PYTHONPATH": settings.deletingLastPathComponent().path,
        ])
      #expect(judged.exitCode == 0, "\(judged.output.suffix(150).joined(separator: "\n"))")
      #expect(judged.output.contains { $0.contains("No issues found") })
    }
  }

  /// What follows the description is accepted.
  ///
  /// 422 is for what no schema can say: a rich type without a plugin, an asset that does not exist, a time
  /// in the past, a notification of another publisher, the focus of a sound, quiet hours that end when they begin, a time
  /// zone, an expression of tags, a template, a key that is not on its curve; 413 for a message that has more bytes than a schema, which counts characters, can tell; 415 for
  /// a file that is no picture; 412 for what was changed meanwhile;
  /// 400 for parameters that exclude each other. Only the operations that take such a thing may answer so.
  /// Every text can be the name of a file that was used once.
  /// A target that is too long is refused, too, but not in one of the ways that it knows.
  private static let settings = """
    [checks.positive_data_acceptance]
    expected-statuses = ["2XX", "3XX", 401, 403, 404, 409, 429, "5XX"]
    [checks.negative_data_rejection]
    expected-statuses = ["4XX"]

    [[operations]]
    include-operation-id = ["createNotification", "changeNotification"]
    [operations.checks.positive_data_acceptance]
    expected-statuses = ["2XX", 403, 404, 409, 413, 415, 422, 429, "5XX"]

    [[operations]]
    include-operation-id = ["updateDevice", "changeDeviceSettings", "countAudience", "createAccessToken", "createWebhook", "countWeeks", "describeAsset", "importAttributeFile"]
    [operations.checks.positive_data_acceptance]
    expected-statuses = ["2XX", 403, 404, 409, 413, 422, 429, "5XX"]

    [[operations]]
    include-operation-id = ["changeDraft", "removeDraft"]
    [operations.checks.positive_data_acceptance]
    expected-statuses = ["2XX", 403, 404, 409, 412, 413, 429, "5XX"]

    [[operations]]
    include-operation-id = ["putSegment", "removeSegment"]
    [operations.checks.positive_data_acceptance]
    expected-statuses = ["2XX", 403, 404, 409, 412, 413, 422, 429, "5XX"]

    [[operations]]
    include-operation-id = "listAssetUses"
    [operations.checks.negative_data_rejection]
    expected-statuses = ["2XX", "4XX"]

    [[operations]]
    include-operation-id = "reportInteraction"
    [operations.checks.positive_data_acceptance]
    expected-statuses = ["2XX", 400, 401, 403, 404, 409, 413, 429, "5XX"]

    [[operations]]
    include-operation-id = ["pair", "signUp"]
    [operations.checks.positive_data_acceptance]
    expected-statuses = ["2XX", 401, 403, 404, 409, 422, 429, "5XX"]

    [[operations]]
    include-operation-id = "listNotifications"
    [operations.checks.positive_data_acceptance]
    expected-statuses = ["2XX", 400, 403, 429, "5XX"]

    [[operations]]
    include-operation-id = ["uploadAsset", "addAsset"]
    [operations.checks.positive_data_acceptance]
    expected-statuses = ["2XX", 403, 404, 412, 415, 422, 429, "5XX"]
    """

  /// Without a body it is the tutorial's request, which has an answer without content; a form has a file of a kind that no
  /// schema tells.
  ///
  /// Else nothing is printed before the end.
  private static let hooks = """
    import sys

    import schemathesis
    from schemathesis.core import NOT_SET

    begun = set()

    @schemathesis.hook
    def before_call(context, case, kwargs):
        if (operation := f"{case.method} {case.path}") not in begun:
            begun.add(operation)
            print(operation, file=sys.stderr, flush=True)

    @schemathesis.hook
    def filter_case(context, case):
        if (case.method, case.path) != ("POST", "/api/notifications"):
            return True
        return case.body is not NOT_SET and case.media_type != "multipart/form-data"
    """

  @Test func `the description knows every method of every path, and who needs a password`()
    async throws
  {
    try await RunningServer.lend { server in
      let text = try server.get("/api/openapi.json", RunningServer.credentials("alice"))
      let document = try JSONDecoder().decode(JSONValue.self, from: Data(text.body))
      guard case .object(let paths) = document.paths else {
        Issue.record("there are no paths")
        return
      }
      #expect(paths.count > 15)
      for (path, item) in paths {
        guard case .object(let operations) = item else { continue }
        let target = path.replacing(/\{\w+\}/, with: "7")
        let options = try RawConnection(port: server.port).bytes(
          "OPTIONS \(target) HTTP/1.1\r\nConnection: close\r\n")
        let allow = String(decoding: options, as: UTF8.self).split(separator: "\r\n").first {
          $0.hasPrefix("Allow: ")
        }
        let methods = Set(allow?.dropFirst(7).components(separatedBy: ", ") ?? [])
        let described = Set(operations.keys.map { $0.uppercased() })
        #expect(
          methods.subtracting(["OPTIONS", "HEAD"]) == described.subtracting(["HEAD"]), "\(path)")
        for (method, operation) in operations {
          let answer = try RawConnection(port: server.port).bytes(
            "\(method.uppercased()) \(target) HTTP/1.1\r\nConnection: close\r\n")
          let isOpen = operation.security == .array([])
          let is401 = answer.starts(with: Array("HTTP/1.1 401 ".utf8))
          #expect(is401 != isOpen, "\(method) \(path)")
        }
      }
    }
  }
}
