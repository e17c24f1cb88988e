import Foundation
import RichPushClient
import Testing
import Waiting

/// A running server, in one mode, with hostile plugins installed and victims laid out.
struct HostileGround: Sendable {
  let mode: HostileMode
  let server: RunningServer
  /// What no plugin may get to see; another one in each run.
  let canary: String
  /// The notifications of the rich types, by which their plugins are asked.
  private let notifications: [String: Int]

  var folder: URL { server.scratch.folder }
  var data: URL { folder.appending(path: "var") }
  /// The attacks as a program of the plugin's folder.
  var program: URL { folder.appending(path: "plugins/attack/attack") }

  /// The rich types: without network, with it, and another one with an asset and secrets of its own.
  enum RichType: String, CaseIterable { case attack, online, neighbour }

  /// Starts the server in a mode, and lends it.
  static func lend(
    _ mode: HostileMode, to body: (HostileGround) async throws -> Void
  ) async throws {
    let canary = "canary-\(UUID())"
    // RLIMIT_NPROC counts by user: the fork bomb would end the forks of other tests' servers.
    let uids = mode.plugins == .own ? ["--plugin-uids", "61400-61655"] : []
    try await mode.lend(
      flags: ["--demo", "--network", "online"] + uids, environment: ["CANARY": canary],
      prepare: { scratch in try prepare(scratch, canary) },
      to: { server in
        var notifications: [String: Int] = [:]
        for type in RichType.allCases {
          notifications[type.rawValue] = try await server.client("alice").create(
            NewNotification(
              "m", richType: type.rawValue, payload: "loan.bin", to: .users(["alice"]))
          ).id
        }
        try await body(
          HostileGround(mode: mode, server: server, canary: canary, notifications: notifications))
      })
  }

  private static func prepare(_ scratch: Scratch, _ canary: String) throws {
    let program = try Sources.attacks.program()
    let manifest = #"{"query": ["do"], "network": true, "limits": {"seconds": 10}}"#
    for type in RichType.allCases {
      let name = type.rawValue
      try scratch.drop(Array(manifest.utf8), as: "plugins/\(name)/plugin.json")
      try scratch.drop(program, as: "plugins/\(name)/\(name)", executable: true)
      try scratch.drop(Array("\(name) \(canary)".utf8), as: "assets/\(name)/loan.bin")
    }
  }

  /// A file of the server's, which only its user may change: below the folder of its data, or in another
  /// folder, where everybody may read it.
  func victim(
    _ name: String, _ content: String = "untouched", in folder: URL? = nil
  ) throws -> String {
    let home = data.appending(path: "victims")
    let place = (folder ?? home).path.dropFirst(self.folder.path.count + 1)
    let file = try server.scratch.drop(Array(content.utf8), as: "\(place)/\(name)").path
    chmod(file, folder == nil || folder == home ? 0o600 : 0o644)
    for path in [file, (folder ?? home).path] { chown(path, mode.user, mode.user) }
    return file
  }

  /// Has a plugin attack, and looks again and again until it has answered.
  ///
  /// Each name is done in a process of its own; a `%` in the words becomes the name.
  @discardableResult
  func attack(
    _ names: [String], _ words: [String] = [], as type: RichType = .attack,
    while look: () throws -> Void = {}
  ) async throws -> RawConnection.Answer {
    let order = ([names.joined(separator: ",")] + words).joined(separator: " ")
    let query = order.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let connection = try RawConnection(port: server.port)
    connection.ask("GET", "/api/notifications/\(notifications[type.rawValue] ?? 0)?do=\(query)")
    try await eventually("it answers") {
      if connection.hasInput { return true }
      try look()
      return false
    }
    return try connection.answer()
  }

  /// Makes sure that plugins still run, so that what has no effect was not merely never done.
  func expectPluginsRun(after attack: String) async throws {
    let file = program.deletingLastPathComponent().appending(path: "plugin.json").path
    for type in [RichType.attack, .online] {
      let place = file.replacing("/attack/", with: "/\(type.rawValue)/")
      let answer = try await self.attack(["read"], [place], as: type)
      #expect(
        answer.text.contains("\"query\""),
        "after \(attack), in \(mode.title): \(answer.text) \(server.log.suffix(2000))")
    }
  }

  /// Runs the attacks' program as the test, outside of every sandbox; its answer.
  func run(_ name: String, _ words: [String]) async throws -> String {
    let result = try await Child.run(
      program.path, [],
      environment: ["QUERY_STRING": "do=" + ([name] + words).joined(separator: "+")])
    return result.output.dropFirst(3).joined(separator: "\n")
  }

  /// Has a plugin attack and wait, looks into the folder that the plugin may write to, and lets it go on.
  @discardableResult
  func attackAndWait(
    _ names: [String], _ words: [String] = [], as type: RichType = .attack,
    then body: (URL) async throws -> Void
  ) async throws -> RawConnection.Answer {
    let token = UUID().uuidString
    let order = ([names.joined(separator: ",")] + [token] + words).joined(separator: " ")
    let query = order.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let connection = try RawConnection(port: server.port)
    connection.ask("GET", "/api/notifications/\(notifications[type.rawValue] ?? 0)?do=\(query)")
    try await eventually("it waits, or answers") {
      if connection.hasInput { return true }
      guard let folder = scratchFolder(with: "ready-\(token)") else { return false }
      try await body(folder)
      try? Data().write(to: folder.appending(path: "over"))
      return true
    }
    return try connection.answer()
  }

  /// The folder of a plugin's in which there is a file of this name.
  private func scratchFolder(with name: String) -> URL? {
    let files = FileManager.default.enumerator(at: data, includingPropertiesForKeys: nil)
    return files?.lazy.compactMap { $0 as? URL }.first { $0.lastPathComponent == name }?
      .deletingLastPathComponent()
  }

  /// The launcher and all below it: the server's processes but for itself.
  var launched: [ProcessFacts] {
    ProcessFacts.family(of: server.processIdentifier).filter { $0.pid != server.processIdentifier }
  }
}
