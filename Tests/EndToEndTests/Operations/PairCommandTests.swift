import Foundation
import RichPushClient
import Testing

/// `richpush user pair`: a phone is added without a password.
@Suite(.timeLimit(.minutes(3))) struct PairCommandTests {
  private static func user(_ words: [String], _ server: RunningServer) async throws -> Child.Result
  {
    try await Child.run(
      "richpush", ["user"] + words + ["--data", server.scratch.folder.path + "/var"])
  }

  /// The status of a request without credentials, and what it got.
  private static func use(
    _ code: String, _ server: RunningServer
  ) async throws -> (status: Int, body: String) {
    let result = try await Child.run(
      "/usr/bin/curl",
      ["-s", "-w", "\n%{http_code}", "-d", #"{"code":"\#(code)"}"#]
        + [server.endpoint.absoluteString + "/api/pair"])
    return (Int(result.output.last ?? "") ?? 0, result.output.first ?? "")
  }

  @Test func `a guest who never signed in gets a link that works once`() async throws {
    let log = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    try await RunningServer.lend(flags: ["--demo", "--access-log", log.path]) { server in
      let made = try await Self.user(["pair", "never-seen"], server)
      #expect(made.exitCode == 0, "\(made)")
      let link = try #require(made.output.first)
      let address = server.endpoint.absoluteString
      #expect(link.hasPrefix("\(address)/app/#pair="), "\(made)")
      #expect(made.errors.contains("no phone can reach 127.0.0.1"), "\(made.errors)")
      #expect(!made.output.joined().contains("\u{1B}"), "no picture in a pipe")
      let code = String(link.suffix(22))
      let typed = try #require(made.output[1].split(separator: " ").last)
      let paired = try await Self.use(code, server)
      #expect(paired.status == 201 && paired.body.contains(#""user":"never-seen""#), "\(paired)")
      #expect(try await Self.use(String(typed), server).status == 410)
      let lines = try String(contentsOf: log, encoding: .utf8)
      #expect(!lines.contains(code) && !lines.contains(typed.prefix(4)))
    }
  }

  @Test func `the codes of a user are listed and revoked, and read by programs`() async throws {
    try await RunningServer.lend { server in
      let made = try await Self.user(
        ["pair", "alice", "--public-url", "https://push.example/", "--json"], server)
      #expect(made.exitCode == 0 && made.errors.isEmpty, "\(made)")
      let text = try #require(made.output.first)
      let pairing = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      let link = try #require(pairing?["link"] as? String)
      #expect(link.hasPrefix("https://push.example/app/#pair="))
      #expect((pairing?["qrCode"] as? [String])?.count == 33)
      let id = try #require(pairing?["id"] as? Int)
      let list = try await Self.user(["pairings", "alice"], server)
      #expect(list.output.count == 2 && list.output[1].hasPrefix("\(id)"), "\(list)")
      #expect(!list.output.joined().contains(link.suffix(22)))
      let revoked = try await Self.user(["pairings", "alice", "--end", "\(id)"], server)
      #expect(revoked.exitCode == 0, "\(revoked)")
      #expect(try await Self.user(["pairings", "alice", "--end", "\(id)"], server).exitCode == 1)
      #expect(try await Self.use(String(link.suffix(22)), server).status == 410)
    }
  }

  @Test func `without a server there is no address, unless it is named`() async throws {
    let scratch = try Scratch()
    let data = ["--data", scratch.folder.path + "/var"]
    let added = try await Child.run(
      "richpush", ["user", "add", "alice"] + data, input: "a good secret\n")
    #expect(added.exitCode == 0, "\(added)")
    let lost = try await Child.run("richpush", ["user", "pair", "alice"] + data)
    #expect(lost.exitCode == 1 && lost.errors.contains("--public-url"), "\(lost)")
    let named = ["--public-url", "https://push.example"] + data
    let made = try await Child.run("richpush", ["user", "pair", "alice"] + named)
    #expect(made.exitCode == 0 && made.errors.contains("no server is running"), "\(made)")
    // Only in demo mode any name is a user.
    let stranger = try await Child.run("richpush", ["user", "pair", "bob"] + named)
    #expect(stranger.exitCode == 1 && stranger.errors.contains("no user"), "\(stranger)")
  }
}

/// The QR code on a terminal, as another program reads it.
@Suite(.timeLimit(.minutes(2))) struct PairCommandSystemTests {
  /// The modules of a code in half blocks, which is black on white: true is dark.
  private static func modules(_ line: String) -> (top: [Bool], bottom: [Bool])? {
    let start = "\u{1B}[38;5;16;48;5;231m"
    guard line.hasPrefix(start) else { return nil }
    let blocks = line.dropFirst(start.count).prefix { $0 != "\u{1B}" }
    return (
      blocks.map { "\u{2588}\u{2580}".contains($0) }, blocks.map { "\u{2588}\u{2584}".contains($0) }
    )
  }

  @Test func `zbarimg reads the link from the terminal's half blocks`() async throws {
    try await RunningServer.lend { server in
      let command =
        "stty cols 80; \(try Package.program("richpush").path) user pair alice --data "
        + server.scratch.folder.path + "/var"
      let result = try await Child.run("/usr/bin/script", ["-qec", command, "/dev/null"])
      let lines = result.output.map { $0.trimmingCharacters(in: ["\r"]) }
      let rows = lines.compactMap(Self.modules).flatMap { [$0.top, $0.bottom] }
      #expect(rows.count >= 37 && Set(rows.map(\.count)).count == 1, "\(lines)")
      let pixels = rows.map { row in
        let line = row.map { String(repeating: $0 ? "1 " : "0 ", count: 8) }.joined() + "\n"
        return String(repeating: line, count: 8)
      }
      let picture =
        "P1\n\((rows.first?.count ?? 0) * 8) \(rows.count * 8)\n" + pixels.joined()
      let file = try server.scratch.drop(Array(picture.utf8), as: "code.pbm")
      let read = try await Child.run("/usr/bin/zbarimg", ["--quiet", "--raw", file.path])
      let link = try #require(lines.first { $0.contains("/app/#pair=") })
      #expect(read.output == [link], "\(read)")
    }
  }
}
