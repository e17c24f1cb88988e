import Foundation
import RichPushClient
import Testing
import Waiting

/// Publishing by dropping: words beside a file, or the outbox.
@Suite(.timeLimit(.minutes(5))) struct DropPublishTests {
  private let flags = ["--demo", "--publish-as", "shop"]

  private func text(_ server: RunningServer, _ path: String) -> String? {
    try? String(contentsOf: server.scratch.folder.appending(path: path), encoding: .utf8)
  }

  @Test func `is off unless it is enabled, and says so`() async throws {
    try await RunningServer.lend { server in
      try server.scratch.drop(
        Array(#"{"to":["username:alice"]}"#.utf8), as: "assets/img/logo.png.notify.json")
      try await eventually("it is told") {
        try await server.client("alice").assets(richType: "img").contains {
          $0.name == "logo.png.notify.json" && $0.reason?.contains("--publish-as") == true
        }
      }
      #expect(try await server.client("alice").inbox().notifications.isEmpty)
    }
  }

  @Test func `sends a file with words beside it once, and again when the words change`()
    async throws
  {
    try await RunningServer.lend(flags: flags) { server in
      let alice = server.client("alice")
      let slip = "assets/img/logo.png.notify.json"
      let sent = "assets/img/logo.png.notify.sent.json"
      try server.scratch.drop(
        Array(#"{"message":"One","to":["username:alice"]}"#.utf8), as: slip)
      try await eventually("it is sent") { text(server, sent)?.contains(#""id":0"#) == true }
      try FileManager.default.removeItem(at: server.scratch.folder.appending(path: sent))
      try await eventually("the result is written again") { text(server, sent) != nil }
      try await server.restart(by: SIGKILL)
      try server.scratch.drop(
        Array(#"{"message":"Two","to":["username:alice"]}"#.utf8), as: slip)
      try await eventually("the second is sent") {
        text(server, sent)?.contains(#""id":1"#) == true
      }
      #expect(try await alice.inbox().notifications.map(\.message) == ["Two", "One"])
      #expect(try await alice.media(1).contentType == "image/png")
      let names = try await alice.assets(richType: "img").map(\.name)
      #expect(Set(names) == ["logo.png", "beach.jpg"])
    }
  }

  @Test func `new words for a file whose new content is still coming wait for that content`()
    async throws
  {
    try await RunningServer.lend(flags: flags) { server in
      let alice = server.client("alice")
      try await eventually("the former content is known") {
        try await alice.asset("logo.png", richType: "img").sha256 != nil
      }
      let path = server.scratch.folder.path + "/assets/img/logo.png"
      let bytes = Data(try Package.bytes("assets/img/beach.jpg"))
      let writer = try #require(FileHandle(forWritingAtPath: path))
      try writer.truncate(atOffset: 0)
      try writer.write(contentsOf: bytes.prefix(1000))
      try server.scratch.drop(
        Array(#"{"message":"New","to":["username:alice"]}"#.utf8),
        as: "assets/img/logo.png.notify.json")
      try server.scratch.drop(
        Array(#"{"message":"Other","to":["username:alice"]}"#.utf8),
        as: "assets/img/beach.jpg.notify.json")
      try await eventually("the words were looked at") {
        text(server, "assets/img/beach.jpg.notify.sent.json") != nil
      }
      try writer.write(contentsOf: bytes.dropFirst(1000))
      try writer.close()
      try await eventually("it is sent") {
        text(server, "assets/img/logo.png.notify.sent.json") != nil
      }
      let inbox = try await alice.inbox().notifications
      #expect(inbox.map(\.message) == ["New", "Other"])
      #expect(try await alice.media(#require(inbox.first?.id)).contentType == "image/jpeg")
    }
  }

  @Test func `a touch of what was sent sends nothing, and the log says nothing`() async throws {
    try await RunningServer.lend(flags: flags) { server in
      let slip = server.scratch.folder.path + "/assets/img/logo.png.notify.json"
      let sent = "assets/img/logo.png.notify.sent.json"
      try server.scratch.drop(
        Array(#"{"to":["username:alice"]}"#.utf8), as: "assets/img/logo.png.notify.json")
      try await eventually("it is sent") { text(server, sent) != nil }
      let first = text(server, sent)
      utimes(slip, nil)
      try await eventually("the touch is noted") { text(server, sent) != first }
      #expect(server.log.components(separatedBy: "logo.png is sent").count == 2, "\(server.log)")
      #expect(try await server.client("alice").inbox().notifications.count == 1)
    }
  }

  @Test func `writes down why nothing was sent, and sends it once that is mended`() async throws {
    try await RunningServer.lend(flags: flags) { server in
      let slip = "assets/img/late.png.notify.json"
      let error = "assets/img/late.png.notify.error.txt"
      try server.scratch.drop(Array(#"{"message":"m"}"#.utf8), as: slip)
      try await eventually("the missing file is told") {
        text(server, error)?.contains("There is no file") == true
      }
      try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/img/late.png")
      try await eventually("the missing audience is told") {
        text(server, error)?.contains("to is missing") == true
      }
      try server.scratch.drop(Array(#"{"to":["username:alice"]}"#.utf8), as: slip)
      try await eventually("it is sent") {
        text(server, "assets/img/late.png.notify.sent.json") != nil && text(server, error) == nil
      }
      #expect(try await server.client("alice").inbox().notifications.map(\.message) == ["late"])
    }
  }

  @Test func `sends every file of the outbox, with its own words or the folder's`() async throws {
    try await RunningServer.lend(flags: flags) { scratch in
      try scratch.drop(
        Array(#"{"to":["username:alice"]}"#.utf8),
        as: "assets/outbox/img/default.notify.json")
    } to: { server in
      let alice = server.client("alice")
      let later = #"{"message":"Later","to":["username:alice"],"notBefore":"2099-01-01T00:00:00Z"}"#
      try server.scratch.drop(Array(later.utf8), as: "assets/outbox/img/later.png.notify.json")
      for name in ["Summer sale.jpg", "later.png"] {
        try server.scratch.drop(
          Package.bytes("assets/img/beach.jpg"), as: "assets/outbox/img/" + name)
      }
      try server.scratch.drop(Array("text".utf8), as: "assets/outbox/img/bad.png")
      try await eventually("both are stored, and the text is refused") {
        ["Summer sale.jpg", "later.png"].allSatisfy {
          text(server, "assets/outbox/img/\($0).notify.sent.json") != nil
        }
          && text(server, "assets/outbox/img/bad.png.notify.error.txt")?.contains("This is text")
            == true
      }
      #expect(try await alice.inbox().notifications.map(\.message) == ["Summer sale"])
      try await eventually("what could not be sent is shown, and nothing else of it") {
        let shown = try await alice.assets(richType: "outbox")
        return shown.map(\.name) == ["img/bad.png"] && shown[0].state == .refused
          && shown[0].reason?.contains("This is text") == true
      }
      try server.scratch.drop(
        Package.bytes("assets/img/logo.png"), as: "assets/outbox/img/bad.png")
      try await eventually("it is sent, and shown no more") {
        try await alice.assets(richType: "outbox").isEmpty
          && text(server, "assets/outbox/img/bad.png.notify.sent.json") != nil
      }
    }
  }

  @Test func `shows what lies in the outbox of a server that sends nothing`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      try await eventually("the samples are ready") { try await alice.assetCounts().ready == 4 }
      let paths = ["img/a.png", "b.png"]
      for path in paths {
        try server.scratch.drop(
          Package.bytes("assets/img/logo.png"), as: "assets/outbox/" + path)
        try await eventually("it is shown") {
          try await alice.assets(richType: "outbox").contains {
            $0.name == path && $0.state == .refused
              && $0.reason?.contains("--publish-as") == true
          }
        }
      }
      for path in paths {
        try FileManager.default.removeItem(
          at: server.scratch.folder.appending(path: "assets/outbox/" + path))
      }
      try await eventually("it is gone") { try await alice.assets(richType: "outbox").isEmpty }
    }
  }

  @Test func `shows what can be sent by nobody, also after a restart`() async throws {
    try await RunningServer.lend(flags: flags) { server in
      let alice = server.client("alice")
      let outbox = server.scratch.folder.path + "/assets/outbox"
      try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/outbox/loose.png")
      try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/outbox/img/a.png")
      let latin = Array("\(outbox)/img/caf".utf8CString.dropLast()) + [CChar(bitPattern: 0xE9), 0]
      link(outbox + "/img/a.png", latin)
      let names = ["img/a.png", #"img/caf\x{E9}"#, "loose.png"]
      try await eventually("all are shown") {
        try await alice.assets(richType: "outbox").map(\.name) == names
      }
      try await server.restart(by: SIGTERM)
      unlink(outbox + "/loose.png")
      unlink(latin)
      try server.scratch.drop(
        Array(#"{"to":["username:alice"]}"#.utf8), as: "assets/outbox/img/default.notify.json")
      try await eventually("it is sent, and nothing is shown any more") {
        try await alice.assets(richType: "outbox").isEmpty
          && text(server, "assets/outbox/img/a.png.notify.sent.json") != nil
      }
    }
  }

  @Test func `makes the outbox, and sends what waits there when the folder's words come`()
    async throws
  {
    try await RunningServer.lend(flags: flags) { server in
      let outbox = server.scratch.folder.path + "/assets/outbox"
      #expect(FileManager.default.fileExists(atPath: outbox))
      #expect(!server.log.contains("cannot be read"))
      let names = ["a.png", "b.png"].map { "assets/outbox/img/" + $0 }
      for name in names {
        try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: name)
        try await eventually("the missing words are told") {
          text(server, name + ".notify.error.txt")?.contains("no recipients") == true
        }
      }
      try server.scratch.drop(
        Array(#"{"to":["username:alice"]}"#.utf8), as: "assets/outbox/img/default.notify.json")
      try await eventually("both are sent") {
        names.allSatisfy {
          text(server, $0 + ".notify.sent.json") != nil
            && text(server, $0 + ".notify.error.txt") == nil
        }
      }
    }
  }

  @Test func `does not start in the name of nobody`() async throws {
    let scratch = try Scratch()
    let result = try await Child.run(
      "richpush",
      ["serve", "--listen", "127.0.0.1:0", "--publish-as", "nobody"]
        + ["--data", scratch.folder.path + "/var", "--assets", scratch.folder.path + "/assets"])
    #expect(result.exitCode == 1 && result.errors.contains("user add nobody"))
  }
}
