import Foundation
import StandIns
import Testing

/// `richpush config`, whose file systemd reads.
@Suite(.timeLimit(.minutes(1))) struct ConfigCommandTests {
  private func check(
    _ text: String, flags: [String] = []
  ) async throws -> (code: Int32, output: String, errors: String) {
    let scratch = try Scratch()
    let file = try scratch.drop(Array(text.utf8), as: "env")
    #expect(chmod(file.path, 0o600) == 0)
    let result = try await Child.run("richpush", ["config", "check", file.path] + flags)
    return (
      result.exitCode, result.output.joined(separator: "\n"),
      result.errors.replacing(file.path + ":", with: "")
    )
  }

  @Test func `the template sets nothing, is right, and names every flag of the server`()
    async throws
  {
    let template = try await Child.run("richpush", ["config", "template"]).output
    let (code, output, errors) = try await check(template.joined(separator: "\n"))
    #expect(code == 0 && errors.isEmpty, "\(errors)")
    #expect(output.contains(#/RICHPUSH_LISTEN +127.0.0.1:8080 +default/#))
    let help = try await Child.run("richpush", ["serve", "--help"]).output
    let flags = help.compactMap { $0.firstMatch(of: #/^  --([a-z-]+)/#)?.1 }
    #expect(flags.count > 20)
    for flag in flags where flag != "help" {
      let name = "#RICHPUSH_" + flag.uppercased().replacing("-", with: "_") + "="
      #expect(template.contains { $0.hasPrefix(name) }, "\(name)")
    }
    #expect(template.contains("#RICHPUSH_APNS_KEY_ID="))
  }

  @Test func `all that is wrong is named with its line`() async throws {
    let (code, output, errors) = try await check(
      """
      # a comment \\
      continued, RICHPUSH_LISTEN=nonsense
      RICHPUSH_LISTEN=nowhere

      RICHPUSH_LISTN=127.0.0.1:80
      nonsense
      RICHPUSH_DEMO=maybe
      RICHPUSH_PUSH=apns
      RICHPUSH_DATA=/a
      RICHPUSH_DATA="/var/lib/rich push"
      RICHPUSH_METRICS_ALLOW='10.0.0.0/8;token:0123456789abcdef'
      RICHPUSH_ASSETS=/srv/\\
      assets
      OTHER=value
      export RICHPUSH_LOG_LEVEL=error
      """)
    #expect(code == 78)
    let lines = errors.split(separator: "\n").map(String.init)
    #expect(lines.count == 8, "\(errors)")
    for (line, text) in [
      (3, "--listen must be HOST:PORT"), (5, "did you mean 'RICHPUSH_LISTEN'"), (6, "NAME=value"),
      (7, "RICHPUSH_DEMO must be 'yes' or 'no'"), (8, "RICHPUSH_APNS_KEY_FILE is not set"),
      (9, "set again"), (15, "NAME=value"),
    ] {
      #expect(
        lines.contains { $0.hasPrefix("richpush: \(line): ") && $0.contains(text) },
        "\(text) \(errors)")
    }
    #expect(output.contains(#/RICHPUSH_DATA +/var/lib/rich push +line 10/#), "\(output)")
    #expect(output.contains(#/RICHPUSH_ASSETS +/srv/assets +line 12/#), "\(output)")
    #expect(output.contains("10.0.0.0/8;token:(secret)") && !output.contains("0123456789abcdef"))
  }

  @Test(arguments: [
    ("A=b c ", "b c"), ("A = 'b '  \"c\\\"$d\" ", "b c\"$d"), ("A=b#c;d", "b#c;d"), ("A=", ""),
    ("A=\"b\\\nc\\d\"", "bc\\d"), ("A=b\\ c\\\nd", "b cd"), ("A='b\nc'", "b\nc"),
  ])
  func `values are read as systemd reads them`(line: String, value: String) async throws {
    let line = line.replacing("A", with: "RICHPUSH_DEFAULT_MESSAGE", maxReplacements: 1)
    let (_, output, errors) = try await check(line + "\nRICHPUSH_DATA=/end\n")
    let shown = output.components(separatedBy: "\n").first { $0.contains("DEFAULT_MESSAGE") } ?? ""
    #expect(errors.isEmpty && output.contains("/end"), "\(errors)")
    if value.isEmpty || value.contains("\n") { return }
    let fields = shown.components(separatedBy: "  ").filter { !$0.isEmpty }
      .map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(fields.dropFirst().first == value, "\(output)")
  }

  @Test func `it warns of secrets that every user of the machine can read`() async throws {
    let scratch = try Scratch()
    // Everybody may enter it.
    #expect(chmod(scratch.folder.path, 0o755) == 0)
    let hook = try scratch.drop(Array("0123456789abcdef0123456789abcdef".utf8), as: "hook")
    let key = try scratch.drop(Array("key".utf8), as: "tls.key")
    let text = """
      RICHPUSH_PUSH=webhook
      RICHPUSH_WEBHOOK_URL=https://hook.example/
      RICHPUSH_WEBHOOK_SECRET_FILE=\(hook.path)
      RICHPUSH_TLS_CERTIFICATE=\(key.path)
      RICHPUSH_TLS_KEY=\(key.path)
      """
    let plain = try scratch.drop(Array(text.utf8), as: "plain.env")
    let password = "\nRICHPUSH_DATABASE=postgres://richpush:hidden@127.0.0.1:1/richpush\n"
    let secret = try scratch.drop(Array((text + password).utf8), as: "secret.env")
    func warnings(_ file: URL) async throws -> [String] {
      let result = try await Child.run("richpush", ["config", "check", file.path])
      // No database is there, and no certificate.
      #expect(result.exitCode == 78 && !result.errors.contains("hidden"), "\(result)")
      return result.errors.split(separator: "\n").map(String.init)
        .filter { $0.contains("every user of this machine can read") }
    }
    let open = try await warnings(secret)
    #expect(open.count == 3, "\(open)")
    #expect(open.contains { $0.contains("RICHPUSH_DATABASE in \(secret.path)") }, "\(open)")
    #expect(open.contains { $0.contains("chmod o= \(hook.path)") }, "\(open)")
    #expect(open.contains { $0.contains("chmod o= \(key.path)") }, "\(open)")
    #expect(try await warnings(plain).count == 2, "it has no secret itself")
    for file in [hook, key, secret] { #expect(chmod(file.path, 0o640) == 0) }
    #expect(try await warnings(secret).isEmpty)
    // Nobody gets through a closed folder.
    for file in [hook, key, secret] { #expect(chmod(file.path, 0o644) == 0) }
    #expect(chmod(scratch.folder.path, 0o750) == 0)
    #expect(try await warnings(secret).isEmpty)
  }

  @Test func `it looks for the admin who alone has a password, once there are users`() async throws
  {
    let scratch = try Scratch()
    let data = scratch.folder.path + "/var"
    let text = """
      RICHPUSH_DATA=\(data)
      RICHPUSH_PUBLIC_URL=https://push.example
      RICHPUSH_OIDC_ISSUER=https://login.example
      RICHPUSH_PASSWORD_SIGN_IN=rescue
      """
    for (user, role, problem) in [
      ("", "", ""), ("shop", "publisher", "there is no such user"), ("rescue", "admin", ""),
    ] {
      if !user.isEmpty {
        let added = try await Child.run(
          "richpush", ["user", "add", user, "--role", role, "--data", data],
          input: "a good secret\n")
        #expect(added.exitCode == 0, "\(added.errors)")
      }
      let (code, _, errors) = try await check(text, flags: ["--offline"])
      #expect(code == (problem.isEmpty ? 0 : 78), "\(user) \(errors)")
      #expect(errors.contains("richpush: 4: --password-sign-in rescue") == !problem.isEmpty)
      #expect(errors.contains(problem) || problem.isEmpty, "\(errors)")
    }
  }

  @Test func `it connects to the database, and says where the variable is`() async throws {
    let (code, output, errors) = try await check(
      "RICHPUSH_DATA=/etc\nRICHPUSH_DATABASE=postgres://richpush:hidden@127.0.0.1:1/richpush\n")
    #expect(code == 78)
    #expect(errors.contains("2: ") && !errors.contains("hidden") && !output.contains("hidden"))
    let offline = try await check(
      "RICHPUSH_DATABASE=postgres://richpush:hidden@127.0.0.1:1/richpush\n", flags: ["--offline"])
    #expect(offline.code == 0 && offline.errors.isEmpty, "\(offline)")
    let folder = try await check("RICHPUSH_DATA=/etc\n")
    #expect(folder.code == 78 && folder.errors.contains("richpush: 1: "), "\(folder.errors)")
    let absent = try await check("RICHPUSH_DATA=/var/lib/richpush-that-is-not-there\n")
    #expect(absent.code == 0 && absent.errors.isEmpty, "\(absent.errors)")
  }

  @Test func `it tries the bucket, leaves nothing in it, and says what the key may not do`()
    async throws
  {
    let store = try ObjectStandIn()
    let text = """
      RICHPUSH_OBJECTS_ACCESS_KEY=rich:push
      RICHPUSH_OBJECTS=\(store.url)
      RICHPUSH_OBJECTS_SECRET_KEY=hidden
      """
    let good = try await check(text)
    #expect(good.code == 0 && good.errors.isEmpty, "\(good)")
    #expect(store.received.map(\.method) == ["GET", "PUT", "GET", "DELETE"])
    #expect(store.keys.isEmpty)
    for (method, verb) in [("PUT", "written"), ("GET", "read"), ("DELETE", "removed")] {
      store.fail { request, _ in
        request.method == method && !request.key.isEmpty ? .status(403, "AccessDenied") : nil
      }
      let (code, _, errors) = try await check(text)
      #expect(code == 78, "\(errors)")
      let sentence = "richpush: 2: objects in the bucket bucket cannot be \(verb): "
      #expect(errors.contains(sentence), "\(errors)")
      #expect(store.keys.isEmpty == (method != "DELETE"), "\(store.keys)")
    }
    store.fail { request, _ in
      request.method == "GET" && !request.key.isEmpty ? .corrupt : nil
    }
    #expect(try await check(text).errors.contains("other bytes"))
    store.forget()
    let offline = try await check(text, flags: ["--offline"])
    #expect(offline.code == 0 && store.received.isEmpty, "\(offline)")
  }

  @Test func `it warns of a contact that Apple refuses, with the reason`() async throws {
    let (code, _, errors) = try await check(
      "RICHPUSH_PUSH=webpush\nRICHPUSH_PUSH_CONTACT=mailto:admin@localhost\n")
    #expect(code == 0)
    #expect(errors.contains("Apple") && errors.contains("localhost is no name"), "\(errors)")
    let good = try await check(
      "RICHPUSH_PUSH=webpush\nRICHPUSH_PUSH_CONTACT=mailto:ops@example.com\n")
    #expect(good.code == 0 && good.errors.isEmpty, "\(good.errors)")
  }

  /// The problems of a server with this certificate.
  private func check(
    _ certificate: TemporaryCertificate, publicURL: String = "https://localhost"
  ) async throws -> (code: Int32, errors: String) {
    let (code, _, errors) = try await check(
      """
      RICHPUSH_PUBLIC_URL=\(publicURL)
      RICHPUSH_TLS_CERTIFICATE=\(certificate.path)
      RICHPUSH_TLS_KEY=\(certificate.key)
      """)
    return (code, errors)
  }

  @Test func `a certificate that clients refuse is wrong, and one that soon expires is warned of`()
    async throws
  {
    let good = try await TemporaryCertificate(days: -1...365)
    #expect(try await check(good) == (0, ""))
    let expired = try await check(TemporaryCertificate(days: -90 ... -1))
    #expect(expired.code == 78, "\(expired)")
    #expect(expired.errors.contains("richpush: 2: ") && expired.errors.contains(" expired at "))
    let early = try await check(TemporaryCertificate(days: 2...90))
    #expect(early.code == 78 && early.errors.contains("is not valid before"), "\(early)")
    let client = try await check(TemporaryCertificate(days: -1...90, purpose: "CLIENT_AUTH"))
    #expect(client.code == 78 && client.errors.contains("may not be used by servers"), "\(client)")
    let late = try await check(TemporaryCertificate(days: -80...10))
    #expect(late.code == 0 && late.errors.contains("expires at"), "\(late)")
    let foreign = try await check(good, publicURL: "https://push.example/app")
    #expect(foreign.code == 0 && foreign.errors.contains("is not for push.example"), "\(foreign)")
    let other = try await TemporaryCertificate(days: -1...365)
    try FileManager.default.removeItem(atPath: good.key)
    try FileManager.default.copyItem(atPath: other.key, toPath: good.key)
    let mixed = try await check(good)
    #expect(mixed.code == 78 && mixed.errors.contains("cannot be used"), "\(mixed)")
  }

  @Test func `the environment of compose.yml is right`() async throws {
    let compose = String(decoding: try Package.bytes("packaging/image/compose.yml"), as: UTF8.self)
    let lines = compose.matches(of: #/(?m)^ +(RICHPUSH_\w+): (\S+)$/#).map { "\($0.1)=\($0.2)" }
    let (code, output, errors) = try await check(lines.joined(separator: "\n"))
    #expect(code == 0 && errors.isEmpty && lines.count == 2, "\(errors)")
    #expect(output.contains(#/RICHPUSH_TRUSTED_PROXY +[\d.]+/\d+ +line 2/#), "\(output)")
  }
}
