import Foundation
import RichPushClient
import Testing
import Waiting

/// A phone of alice's, as `richpush ntfy subscribe` adds one, and what ntfy's app on it asks for.
struct NtfyPhone {
  static let password = "a-good-secret"

  private static let python =
    Package.root.appending(path: ".build/clients/current/bin/python").path

  let place: String
  let token: String
  let link: String

  init(
    _ topics: [String], at place: String, of server: RunningServer, database: [String] = [],
    flags: [String] = []
  ) async throws {
    let added = try await Child.run(
      "richpush",
      ["ntfy", "subscribe", "--user", "alice", "--server", "http://\(place)", "--json"]
        + ["--data", server.scratch.folder.path + "/var"] + database
        + topics.flatMap { ["--topic", $0] } + flags)
    try #require(added.exitCode == 0, "\(added)")
    let reader = try JSONDecoder().decode(
      JSONValue.self, from: Data(added.output.joined().utf8))
    (self.place, token) = (place, try #require(reader.password.text))
    guard case .array(let links) = reader.links else { throw Unmet("no links") }
    link = try #require(links.first?.text)
  }

  private func arguments(_ words: [String], at other: String?) -> [String] {
    let script = Package.root.appending(
      path: "Tests/EndToEndTests/Compatible/Clients/ntfy_reader.py")
    return [script.path, other ?? place, "alice", token] + words
  }

  /// What a request gets.
  func ask(_ words: String..., at other: String? = nil) async throws -> [JSONValue] {
    let run = try await Child.run(Self.python, arguments(words, at: other))
    try #require(run.exitCode == 0, "\(words): \(run.errors) \(run.output)")
    return try run.output.map { try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8)) }
  }

  /// A connection that stays.
  func open(_ words: String...) throws -> Child {
    try Child(Self.python, arguments(words, at: nil))
  }

  /// Lends a server with ntfy's API at a place of its own, with the publisher `shop` and the recipient `alice`.
  static func lend(
    flags: [String] = [], environment: [String: String] = [:],
    to body: (RunningServer, _ place: String) async throws -> Void
  ) async throws {
    let port = try ReservedPort()
    let place = "127.0.0.1:\(port.number)"
    try await RunningServer.lend(
      flags: ["--compat", "ntfy", "--ntfy-listen", place] + flags, environment: environment,
      prepare: prepare
    ) { try await body($0, place) }
    withExtendedLifetime(port) {}
  }

  private static func prepare(_ scratch: Scratch) async throws {
    for (user, role) in [("shop", "publisher"), ("alice", "device")] {
      let added = try await Child.run(
        "richpush",
        [
          "user", "add", user, "--role", role, "--data", scratch.folder.appending(path: "var").path,
        ],
        input: password + "\n")
      try #require(added.exitCode == 0, "\(added.errors)")
    }
  }

  /// A line that the server has sent.
  static func message(_ line: String?) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: Data(try #require(line).utf8))
  }
}
