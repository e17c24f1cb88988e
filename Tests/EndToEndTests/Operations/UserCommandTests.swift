import Foundation
import RichPushClient
import Testing
import Waiting

/// `richpush user add` and `password`: what a password may be, and how it is changed.
@Suite(.timeLimit(.minutes(2))) struct UserCommandTests {
  private static func user(
    _ words: String..., in scratch: Scratch, password: String
  ) async throws -> Child.Result {
    try await Child.run(
      "richpush", ["user"] + words + ["--data", scratch.folder.path + "/var"],
      input: password + "\n")
  }

  @Test func `another password opens what the old one no longer does, beside a running server`()
    async throws
  {
    try await RunningServer.lend(flags: []) { scratch in
      let words = try await Self.user(
        "add", "alice", "--role", "publisher", in: scratch, password: "the first secret")
      #expect(words.exitCode == 0, "\(words.errors)")
    } to: { server in
      let old = server.client("alice", password: "the first secret")
      let id = try await old.create(.logo(to: "alice")).id
      let listening = try RawConnection(port: server.port)
      let account = Data("alice:the first secret".utf8).base64EncodedString()
      listening.send(
        Array(
          "GET /api/push/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic \(account)\r\n\r\n"
            .utf8))
      try await eventually("the stream is open") { listening.hasInput }
      let changed = try await Self.user(
        "password", "alice", in: server.scratch, password: "the second secret")
      #expect(changed.exitCode == 0 && changed.output == ["changed the password of alice"])
      #expect(changed.errors.isEmpty, "the server has applied it: \(changed.errors)")
      let said = String(decoding: listening.rest(until: "\r\n0\r\n\r\n"), as: UTF8.self)
      #expect(said.contains("200 OK") && said.hasSuffix("0\r\n\r\n"), "\(said)")
      let error = await #expect(throws: RichPushError.self) { try await old.inbox() }
      #expect(error?.status == 401)
      let new = server.client("alice", password: "the second secret")
      #expect(try await new.inbox().notifications.map(\.id) == [id])
    }
  }

  @Test func `a change reaches the server also if nobody reads what the command prints`()
    async throws
  {
    try await RunningServer.lend(flags: []) { scratch in
      let added = try await Self.user("add", "alice", in: scratch, password: "the first secret")
      #expect(added.exitCode == 0, "\(added.errors)")
    } to: { server in
      let old = server.client("alice", password: "the first secret")
      _ = try await old.inbox()
      let script = """
        import os, subprocess, sys
        reader, writer = os.pipe()
        os.close(reader)
        sys.exit(subprocess.run(sys.argv[1:], stdout=writer).returncode)
        """
      let changed = try await Child.run(
        "/usr/bin/python3",
        ["-c", script, Package.program("richpush").path, "user", "password", "alice"]
          + ["--data", server.scratch.folder.path + "/var"], input: "the second secret\n")
      #expect(changed.exitCode == 0, "\(changed)")
      let error = await #expect(throws: RichPushError.self) { try await old.inbox() }
      #expect(error?.status == 401)
    }
  }

  @Test func `a link with single sign-on is listed, and no other takes its place`() async throws {
    let flags = ["--oidc-issuer", "https://login.example", "--public-url", "https://push.example"]
    try await RunningServer.lend(flags: flags) { scratch in
      for (name, role) in [("rescue", "admin"), ("alice", "device"), ("bob", "device")] {
        let added = try await Self.user(
          "add", name, "--role", role, in: scratch, password: "a good secret")
        #expect(added.exitCode == 0, "\(added.errors)")
      }
    } to: { server in
      func user(_ words: String...) async throws -> Child.Result {
        try await Child.run(
          "richpush", ["user"] + words + ["--data", server.scratch.folder.path + "/var"])
      }
      let linked = try await user("link", "alice", "s-1")
      #expect(linked.output == ["alice signs in at https://login.example"], "\(linked)")
      for (name, subject) in [("alice", "s-2"), ("bob", "s-1")] {
        let refused = try await user("link", name, subject)
        #expect(refused.exitCode == 1 && refused.errors.contains("is linked with"), "\(refused)")
      }
      #expect(
        try await user("list").output == [
          "alice\tdevice\t2\ts-1 at https://login.example", "bob\tdevice\t3", "rescue\tadmin\t1",
        ])
      let people = try await server.client("rescue", password: "a good secret").users().users
      #expect(people.map { $0.identities.map(\.subject) } == [["s-1"], [], []])
      #expect(people.first?.identities.first?.provider == "https://login.example")
      #expect(try await user("unlink", "alice").exitCode == 0)
      #expect(try await user("link", "alice", "s-2").exitCode == 0)
      #expect(try await user("list").output.first?.contains("s-2 at") == true)
    }
    let scratch = try Scratch()
    _ = try await Self.user("add", "alice", in: scratch, password: "a good secret")
    let unknown = try await Self.user("link", "alice", "s-1", in: scratch, password: "")
    #expect(unknown.exitCode == 64 && unknown.errors.contains("--oidc-issuer"), "\(unknown)")
  }

  @Test(arguments: [
    ("seven77", "at least 8 characters"), ("Publisher", "not the user's name"),
    (String(repeating: "x", count: 512), "at most 511 bytes"),
    ("with a\ttab", "no control characters"), ("cut off\0 here", "no control characters"),
  ])
  func `a password that is easily guessed or cannot be sent is refused`(
    password: String, reason: String
  ) async throws {
    let scratch = try Scratch()
    let added = try await Self.user("add", "publisher", in: scratch, password: password)
    #expect(added.exitCode == 1 && added.errors.contains(reason), "\(added)")
    let good = try await Self.user("add", "publisher", in: scratch, password: "eight888")
    #expect(good.exitCode == 0, "\(good)")
    let changed = try await Self.user("password", "publisher", in: scratch, password: password)
    #expect(changed.exitCode == 1 && changed.errors.contains(reason), "\(changed)")
    #expect(!(added.errors + changed.errors).contains(password))
  }

  @Test func `a password of 511 bytes is the whole password`() async throws {
    let long = String(repeating: "x", count: 510)
    try await RunningServer.lend(flags: []) { scratch in
      let added = try await Self.user("add", "alice", in: scratch, password: long + "y")
      #expect(added.exitCode == 0, "\(added.errors)")
    } to: { server in
      _ = try await server.client("alice", password: long + "y").inbox()
      await #expect(throws: RichPushError.self) {
        try await server.client("alice", password: long + "z").inbox()
      }
    }
  }

  @Test func `devices are listed and ended beside a running server, and with a new password`()
    async throws
  {
    try await RunningServer.lend(flags: []) { scratch in
      let words = try await Self.user(
        "add", "alice", in: scratch, password: "the first secret")
      #expect(words.exitCode == 0, "\(words.errors)")
    } to: { server in
      var client = server.client("alice", password: "the first secret")
      client.device = try await client.register(handle: "AA", name: "Alice's phone")
      let tablet = try await client.register(handle: "BB")
      _ = try await client.inbox()
      let phone = try #require(client.device)
      func devices(_ more: String...) async throws -> Child.Result {
        try await Child.run(
          "richpush",
          ["user", "devices", "alice"] + more + ["--data", server.scratch.folder.path + "/var"])
      }
      let listed = try await devices()
      #expect(listed.exitCode == 0 && listed.output.count == 3, "\(listed)")
      #expect(listed.output.contains { $0.contains(phone) && $0.contains("Alice's phone") })
      let ended = try await devices("--end", phone)
      #expect(ended.exitCode == 0 && ended.errors.isEmpty, "\(ended)")
      let registrations = try await server.client("alice", password: "the first secret")
        .registrations()
      #expect(registrations.devices.map(\.registration) == [tablet])
      #expect(try await devices("--end", phone).exitCode == 1, "it is gone")

      let kept = try await Self.user(
        "password", "alice", in: server.scratch, password: "the second secret")
      #expect(kept.output.last?.hasPrefix("devices still registered: 1;") == true, "\(kept)")
      let changed = try await Self.user(
        "password", "alice", "--end-registrations", in: server.scratch,
        password: "the third secret")
      #expect(changed.exitCode == 0 && changed.output.count == 1, "\(changed)")
      #expect(
        try await server.client("alice", password: "the third secret").registrations().devices
          .isEmpty)
    }
  }

  @Test func `a user can be allowed another number of devices, beside a running server`()
    async throws
  {
    try await RunningServer.lend(flags: []) { scratch in
      let added = try await Self.user(
        "add", "alice", "--max-devices", "1", in: scratch, password: "a good secret")
      #expect(added.exitCode == 0, "\(added.errors)")
    } to: { server in
      let client = server.client("alice", password: "a good secret")
      _ = try await client.register(handle: "AA", tags: [])
      let error = await #expect(throws: RichPushError.self) {
        try await client.register(handle: "BB", tags: [])
      }
      #expect(error?.status == 409)
      let changed = try await Self.user(
        "quota", "alice", "--max-devices", "2", in: server.scratch, password: "")
      #expect(changed.output == ["alice can register 2 devices"], "\(changed.errors)")
      _ = try await client.register(handle: "BB", tags: [])
      for words in [["quota", "alice"], ["quota", "alice", "--max-devices", "0"]] {
        let result = try await Child.run(
          "richpush", ["user"] + words + ["--data", server.scratch.folder.path + "/var"])
        #expect(result.exitCode == 64 && result.errors.contains("--max-devices"), "\(result)")
      }
      let nobody = try await Self.user(
        "quota", "bob", "--max-devices", "2", in: server.scratch, password: "")
      #expect(nobody.exitCode == 1 && nobody.errors.contains("no user"))
    }
  }

  @Test func `nobody's password cannot be changed`() async throws {
    let scratch = try Scratch()
    let added = try await Self.user("add", "alice", in: scratch, password: "a good secret")
    #expect(added.exitCode == 0, "\(added)")
    let result = try await Self.user("password", "bob", in: scratch, password: "a good secret")
    #expect(result.exitCode == 1 && result.errors.contains("no user “bob”"), "\(result)")
  }
}
