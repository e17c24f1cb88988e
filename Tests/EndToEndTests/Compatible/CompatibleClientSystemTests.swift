import Foundation
import RichPushClient
import StandIns
import Testing

/// Unmodified clients of other programs' APIs send to the real server: those of `Clients`, with the lists in
/// `Tests/Clients`.
@Suite(.timeLimit(.minutes(10))) struct CompatibleClientSystemTests {
  private static let (publisher, recipient, password) = ("shop", "alice", "a-good-secret")

  /// What the programs in `Clients` are told.
  private struct Setup: Encodable {
    let server: String
    let ntfy: String
    let publisher: String
    let recipient: String
    let password: String
    let token: String
    let root: String
  }

  /// Lends a server with all these APIs, ntfy's at a port of its own.
  private static func lend(
    flags: [String] = [],
    to body: (RunningServer, _ ntfy: Int) async throws -> Void
  ) async throws {
    let port = try ReservedPort()
    try await RunningServer.lend(
      flags: ["--compat", "ntfy,gotify,bark", "--ntfy-listen", "127.0.0.1:\(port.number)"] + flags,
      prepare: { scratch in
        for (user, role) in [(publisher, "publisher"), (recipient, "device")] {
          try await admin("user", "add", user, "--role", role, in: scratch)
        }
      },
      to: { server in
        try await body(server, port.number)
        #expect(!server.log.contains(password) && !server.log.contains("rpt_"), "\(server.log)")
      })
  }

  /// Runs a command on the server's data, and returns the lines that it prints.
  @discardableResult
  private static func admin(_ words: String..., in scratch: Scratch) async throws -> [String] {
    let run = try await Child.run(
      "richpush", words + ["--data", scratch.folder.path + "/var"], input: password + "\n")
    try #require(run.exitCode == 0, "\(run.errors)")
    return run.output
  }

  @Test(arguments: [
    ("apprise_checks", "current", true), ("apprise_checks", "debian12", false),
    ("library_checks", "current", true), ("tool_checks", "debian12", false),
    ("home_assistant_checks", "home-assistant", false),
  ])
  func `their notifications come as they were meant`(
    program: String, clients: String, overTLS: Bool
  ) async throws {
    let python = Package.root.appending(path: ".build/clients/\(clients)/bin/python").path
    try #require(
      FileManager.default.isExecutableFile(atPath: python), "make clients installs \(clients)")
    let authority = try StandIn("hub")
    let tls = [
      "--tls-certificate", authority.folder + "/leaf.pem", "--tls-key",
      authority.folder + "/leaf.key",
    ]
    try await Self.lend(flags: overTLS ? tls : []) { server, ntfy in
      let address = server.endpoint.absoluteString
      let token = try await Self.admin(
        "token", "add", "text", "--user", Self.publisher, "--to", "news", in: server.scratch)
      let setup = Setup(
        server: address, ntfy: address.replacing(":\(server.port)", with: ":\(ntfy)"),
        publisher: Self.publisher,
        recipient: Self.recipient, password: Self.password, token: token.joined(),
        root: Package.root.path)
      let script = "Tests/EndToEndTests/Compatible/Clients/\(program).py"
      var environment = [
        "HOME": server.scratch.folder.path, "PATH": "/usr/sbin:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
      ]
      if overTLS {
        for name in ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"] {
          environment[name] = authority.certificates
        }
      }
      let run = try await Child.run(
        python,
        [
          Package.root.appending(path: script).path,
          String(decoding: try JSONEncoder().encode(setup), as: UTF8.self),
        ], environment: environment)
      #expect(run.exitCode == 0, "\(run.output.joined(separator: "\n"))\n\(run.errors)")
    }
    withExtendedLifetime(authority) {}
  }

  @Test func `curl sends as ntfy's own documentation does`() async throws {
    try await Self.lend { server, port in
      let alice = server.client(Self.recipient, password: Self.password)
      _ = try await alice.register(handle: "0A", tags: ["news"])
      func curl(_ arguments: String...) async throws -> Child.Result {
        try await Child.run(
          "/usr/bin/curl", ["--silent", "--show-error"] + arguments)
      }
      let place = "127.0.0.1:\(port)"
      let url = "http://\(Self.publisher):\(Self.password)@\(place)/news"
      let hi = try await curl("-d", "hi", url)
      #expect(hi.output.joined().contains(#""event":"message""#), "\(hi)")
      let file = try await curl(
        "-T", Package.root.appending(path: "assets/img/logo.png").path, "-H", "Title: Logo", url)
      #expect(file.output.joined().contains(#""type":"image/png""#), "\(file)")
      let pipe = try await Child.run(
        "/bin/sh", ["-c", "echo from a pipe | curl --silent --show-error -T - \(url)"])
      #expect(pipe.output.joined().contains(#""message":"from a pipe""#), "\(pipe)")
      let nobody = try await curl("-d", "hi", "http://\(place)/news")
      #expect(nobody.output.joined().contains(#""code":40101"#), "\(nobody)")
      let inbox = try await alice.inbox().notifications
      #expect(
        inbox.map(\.message.text) == ["from a pipe", "You received a file: attachment", "hi"])
    }
  }
}
