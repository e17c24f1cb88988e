import Foundation
import RichPushClient
import Testing
import Waiting

/// Plugins that misbehave inside the real server: whoever asked them learns it, nobody else does.
@Suite(.timeLimit(.minutes(5))) struct ContainmentSystemTests {
  @Test func `ends the one request within its limits, while others keep their latency`()
    async throws
  {
    try await Self.lend(Misdeed.all) { server in
      for misdeed in Misdeed.all {
        try await Self.expect(misdeed, on: server)
        #expect(ProcessFacts.running(Misdeed.sleeper).isEmpty, "\(misdeed.name)")
      }
    }
  }

  @Test(.enabled(if: hasLandlock))
  func `gets at nothing of the server, its neighbours and the network`() async throws {
    let site = try LocalSite { _ in }
    try await Self.lend(Misdeed.prying) { server in
      let (neighbour, note) = try await Self.neighbour(on: server)
      let aims = [
        "reads-the-database": server.scratch.folder.appending(path: "var/richpush.db").path,
        "reads-a-neighbours-file": note, "connects-out": site.address,
        "kills-the-server": String(server.processIdentifier),
      ]
      for misdeed in Misdeed.prying {
        let aim = try #require(aims[misdeed.name])
        try await Self.expect(misdeed, after: aim, on: server)
        #expect(!aim.hasPrefix("/") || FileManager.default.fileExists(atPath: aim))
      }
      #expect(site.visited.isEmpty)
      #expect(!neighbour.hasInput)
      let over = URL(filePath: note).deletingLastPathComponent().appending(path: "over")
      try Data().write(to: over)
      #expect(try neighbour.answer().status == 200)
    }
  }

  @Test func `is not held up by a long payload that nobody reads`() async throws {
    let manifest = #"{"verbs":["validate"],"limits":{"seconds":1}}"#
    try await Self.lend("#!/bin/sh\nsleep 60\n", manifest) { server in
      let bystander = try await Bystander(on: server)
      let before = try bystander.median()
      let connection = try RawConnection(port: server.port)
      let payload = String(repeating: "x", count: 60_000)
      let body = Array(
        #"{"message":"m","richType":"bad","payload":"\#(payload)","to":["username:alice"]}"#.utf8)
      connection.ask("POST", "/api/notifications", body)
      let meanwhile = try bystander.median { connection.hasInput }
      #expect(meanwhile < max(before, try bystander.median()) * 10)
      #expect(try connection.answer().status == 504)
      #expect(server.log.contains("plugin: bad, validate: timedOut: killed at its deadline of 1 s"))
    }
  }

  @Test func `outlives a resident plugin that does not speak FastCGI`() async throws {
    let manifest = #"{"mode":"fastcgi","verbs":["validate"],"limits":{"seconds":20}}"#
    let plugin = """
      #!/usr/bin/perl
      use Socket;
      while (accept(my $c, STDIN)) { sysread $c, my $request, 65536; syswrite $c, "\\1\\6\\0\\2\\0\\1\\0\\0x"; }

      """
    try await Self.lend(plugin, manifest) { server in
      let bystander = try await Bystander(on: server)
      let before = try bystander.median()
      for _ in 0..<3 {
        let error = await #expect(throws: RichPushError.self) {
          try await server.client("alice").create(
            NewNotification("m", richType: "bad", payload: "x", to: .users(["alice"])))
        }
        #expect([502, 503].contains(error?.status))
      }
      let after = try min(bystander.median(), bystander.median())
      #expect(after < before * 10)
      #expect(server.log.contains("plugin: bad, validate: failed: its FastCGI record begins with"))
    }
  }

  private static let hasLandlock =
    (try? String(contentsOfFile: "/sys/kernel/security/lsm", encoding: .utf8))?
    .contains("landlock") ?? true

  /// A server with the plugins of these misdeeds, one that does no harm, and one that is slow.
  private static func lend(
    _ misdeeds: [Misdeed], to body: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.lend { scratch in
      for misdeed in misdeeds {
        try install(misdeed.plugin, misdeed.manifest, as: misdeed.name, in: scratch)
      }
      try scratch.drop(Array(Bystander.plugin.utf8), as: "plugins/good", executable: true)
      let patient = #"{"query":["now"],"limits":{"seconds":30}}"#
      try install(Misdeed.secretive, patient, as: "slow", in: scratch)
    } to: {
      try await body($0)
    }
  }

  /// A server with a plugin `bad`, and one that does no harm.
  private static func lend(
    _ plugin: String, _ manifest: String, to body: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.lend { scratch in
      try install(plugin, manifest, as: "bad", in: scratch)
      try scratch.drop(Array(Bystander.plugin.utf8), as: "plugins/good", executable: true)
    } to: {
      try await body($0)
    }
  }

  private static func install(
    _ plugin: String, _ manifest: String, as name: String, in scratch: Scratch
  ) throws {
    try scratch.drop(Array(manifest.utf8), as: "plugins/\(name)/plugin.json")
    try scratch.drop(Array(plugin.utf8), as: "plugins/\(name)/\(name)", executable: true)
  }

  private static func expect(
    _ misdeed: Misdeed, after aim: String = "x", on server: RunningServer
  ) async throws {
    let bystander = try await Bystander(on: server)
    var times: [(meanwhile: Duration, otherwise: Duration)] = []
    // The machine may have other work just while the plugin misbehaves, but not each time.
    while times.allSatisfy({ $0.meanwhile >= $0.otherwise * 10 }), times.count < 3 {
      let before = try bystander.median()
      let connection = try await ask(misdeed.name, aim, on: server)
      let meanwhile = try bystander.median { connection.hasInput }
      times.append((meanwhile, max(before, try bystander.median())))

      let answer = try connection.answer()
      #expect(answer.status == misdeed.status, "\(misdeed.name): \(answer.text)")
      #expect(answer.fields["content-type"] == "application/problem+json")
      #expect(answer.fields["set-cookie"] == nil)
    }
    #expect(times.contains { $0.meanwhile < $0.otherwise * 10 }, "\(misdeed.name): \(times)")
    let error = try #require([502: "failed", 503: "busy", 504: "timedOut"][misdeed.status])
    let lines = server.log.split(separator: "\n").filter { line in
      line.contains("plugin: \(misdeed.name), render, notification")
        && line.contains(": \(error): ") && line.contains(misdeed.cause)
    }
    #expect(lines.count == times.count, "\(misdeed.name): \(server.log)")
  }

  /// Somebody whose plugin has just written a note to itself, and the path of the note.
  private static func neighbour(
    on server: RunningServer
  ) async throws -> (RawConnection, note: String) {
    let connection = try await ask("slow", "x", on: server)
    let folder = server.scratch.folder.appending(path: "var")
    var note: String?
    try await eventually("the neighbour has written its note") {
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      note = files?.compactMap { ($0 as? URL)?.path }.first { $0.hasSuffix("/note") }
      return note != nil
    }
    return (connection, try #require(note))
  }

  /// Publishes something of a plugin's, and asks for it without waiting.
  private static func ask(
    _ richType: String, _ payload: String, on server: RunningServer
  ) async throws -> RawConnection {
    let notification = try await server.client("alice").create(
      NewNotification("m", richType: richType, payload: payload, to: .users(["alice"])))
    let connection = try RawConnection(port: server.port)
    connection.ask("GET", "/api/notifications/\(notification.id)?now=1")
    return connection
  }
}
