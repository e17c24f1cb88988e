import Foundation
import RichPushClient
import Testing

/// What a notification can say, from the command line to the device.
@Suite(.timeLimit(.minutes(5))) struct MessageCommandTests {
  private static func run(
    _ words: String..., on server: RunningServer, input: String = ""
  ) async throws -> Child.Result {
    try await Child.run(
      "richpush", words + ["--server", server.endpoint.absoluteString], input: input)
  }

  private static func sent(_ result: Child.Result) throws -> JSONValue {
    try #require(result.exitCode == 0, "\(result.errors)")
    return try JSONDecoder().decode(JSONValue.self, from: Data((result.output.last ?? "").utf8))
  }

  @Test func `every flag sets its member`() async throws {
    try await RunningServer.lend(flags: ["--demo", "--link-scheme", "myapp"]) { server in
      let sent = try Self.sent(
        await Self.run(
          "notify", "--to", "alice", "--title", "Parcel", "--subtitle", "Order 4711",
          "--link", "myapp://orders/4711", "--action", "track=Track=https://shop.example/t",
          "--action", "reply=Reply=input:Your answer", "--action", "later=Later=dismiss",
          "--action", "cancel=Cancel=destructive", "--sound", "chime.caf",
          "--importance", "high", "--relevance", "0.5", "--thread", "orders", "--category", "ORDER",
          "--icon", "https://shop.example/i.png", "--colour", "#00aa77", "--channel", "orders",
          "--replaces", "o", "--lock-screen", "public", "--label", "orders", "--data",
          #"{"order":4711}"#,
          "--payload", "logo.png", "--alt", "A logo", "--output", "json", "At the door.",
          on: server))
      let wanted = #"""
        {"actions":[{"id":"track","label":"Track","link":"https://shop.example/t"},
        {"id":"reply","input":"Your answer","label":"Reply"},{"dismiss":true,"id":"later","label":"Later"},
        {"destructive":true,"id":"cancel","label":"Cancel"}],"alt":"A logo","category":"ORDER",
        "channel":"orders","colour":"#00aa77","data":{"order":4711},"icon":"https://shop.example/i.png",
        "importance":"high","label":"orders","link":"myapp://orders/4711","lockScreen":"public",
        "message":"At the door.","relevance":0.5,"replaces":"o","sound":"chime.caf","subtitle":"Order 4711",
        "thread":"orders","title":"Parcel","richType":"img","payload":"logo.png"}
        """#
      let members = try JSONDecoder().decode(JSONValue.self, from: Data(wanted.utf8)).members
      for (name, value) in members ?? [:] {
        #expect(sent.members?[name] == value, "\(name)")
      }
    }
  }

  @Test func `a file has the members, and flags replace them`() async throws {
    try await RunningServer.lend { server in
      let json = #"{"to":["username:bob"],"title":"T","message":"m","link":"https://a.example"}"#
      let file = try server.scratch.drop(Array(json.utf8), as: "message.json").path
      let first = try Self.sent(
        await Self.run("notify", "--json", file, "--output", "json", on: server))
      #expect(first.to == .array([.string("username:bob")]) && first.title.text == "T")
      let second = try Self.sent(
        await Self.run(
          "notify", "--json", "-", "--to", "alice", "--title", "U", "--output", "json", "n",
          on: server, input: json))
      #expect(second.to == .array([.string("username:alice")]) && second.title.text == "U")
      #expect(second.message.text == "n" && second.link.text == "https://a.example")

      for (text, code, sentence) in [
        ("[]", 65, "not a JSON object"), (#"{"to":"a","titl":"T"}"#, 65, "“title”"),
        (#"{"to":["username:a"],"title":7}"#, 65, "title is not a string"),
        (#"{"to":["username:a"],"title":""}"#, 65, "title must not be empty"),
        (String(repeating: " ", count: 1 << 20) + "{}", 65, "more than 1048576 bytes"),
      ] as [(String, Int32, String)] {
        let refused = try await Self.run("notify", "--json", "-", "m", on: server, input: text)
        #expect(refused.exitCode == code && refused.errors.contains(sentence), "\(refused.errors)")
      }
      let missing = try await Self.run("notify", "--json", file + ".no", "m", on: server)
      #expect(missing.exitCode == 66 && missing.errors.contains("cannot be read"))
    }
  }

  @Test func `a variable of another command is no part of a message`() async throws {
    try await RunningServer.lend { server in
      let result = try await Child.run(
        "richpush", ["notify", "--to", "alice", "--output", "json", "m"],
        environment: [
          "RICHPUSH_SERVER": server.endpoint.absoluteString, "RICHPUSH_DATA": "/var/lib/richpush",
          "RICHPUSH_JSON": "yes", "RICHPUSH_TYPE": "img",
        ])
      let sent = try Self.sent(result)
      #expect(sent.data == .null && sent.richType == .null && sent.message.text == "m")
    }
  }

  @Test func `a device prints titles, links and buttons of every form`() async throws {
    try await RunningServer.lend { server in
      let folder = try server.scratch.makeFolder("phone")
      let phone = try Child(
        "richpush",
        ["device", "--user", "alice", "--folder", folder.path, "--count", "5"]
          + ["--server", server.endpoint.absoluteString])
      var lines = phone.lines.makeAsyncIterator()
      _ = await lines.next()
      let words = ["--to", "alice", "--title", "Parcel", "At the door."]
      func send(_ more: String...) async throws {
        let result = try await Child.run(
          "richpush",
          ["notify", "--server", server.endpoint.absoluteString] + words + more)
        #expect(result.exitCode == 0, "\(result.errors)")
      }
      try await send()
      let text = await lines.next() ?? ""
      #expect(
        text.hasPrefix(#"#0 "Parcel: At the door.": text/plain; charset=utf-8, 12 B, "#), "\(text)")
      #expect(text.contains(" ms from push to text, ") && text.hasSuffix("/0.txt"), "\(text)")
      let saved = folder.appending(path: "0.txt")
      #expect(try String(contentsOf: saved, encoding: .utf8) == "At the door.")

      for (form, id) in [("silent", 1), ("alert", 2), ("hybrid", 3)] {
        try await send(
          "--form", form, "--payload", "logo.png", "--subtitle", "Order 4711", "--link",
          "https://shop.example", "--action", "track=Track=https://shop.example/t",
          "--action", "ask=Ask=input:What?", "--action", "later=Later=dismiss")
        let line = await lines.next() ?? ""
        #expect(
          line.hasPrefix(#"#\#(id) img "Parcel: At the door.": image/png, 512x512"#), "\(line)")
        for wanted in [
          #"  "Order 4711""#, "  opens https://shop.example",
          "  [Track]: opens https://shop.example/t", #"  [Ask]: asks "What?""#,
          "  [Later]: closes it",
        ] { #expect(await lines.next() == wanted, "\(form)") }
      }
      try await send("--lock-screen", "private")
      let hidden = await lines.next() ?? ""
      #expect(hidden.hasPrefix(#"#4 "Parcel: At the door.": text/plain"#), "\(hidden)")
      #expect(await phone.exitCode() == 0)
    }
  }

  @Test func `amend sets and removes members`() async throws {
    try await RunningServer.lend { server in
      let client = server.client("publisher")
      var new = NewNotification("m", richType: "img", payload: "logo.png", to: .users(["bob"]))
      (new.message.title, new.message.link) = ("T", "https://a.example")
      new.message.actions = [MessageAction("a", label: "A")]
      let id = try await client.create(new).id
      let changed = try await Self.run(
        "amend", "\(id)", "--title", "U", "--sound", "none", "--remove", "link", "--remove",
        "action",
        on: server)
      #expect(changed.output == [#"#\#(id) is now "U: m": img logo.png"#], "\(changed.errors)")
      let second = try await client.details(id).message
      #expect(second.title == "U" && second.sound == .silent && second.link == nil)
      #expect(second.actions == nil)

      let bare = try await Self.run(
        "amend", "\(id)", "--json", "-", "--remove", "payload", on: server,
        input: #"{"title":null}"#)
      #expect(bare.output == [#"#\#(id) is now "m""#], "\(bare.errors)")
      let third = try await client.details(id)
      #expect(third.richType == nil && third.payload == nil && third.message.title == nil)
      let fixed = try await Self.run(
        "amend", "\(id)", "--json", "-", on: server, input: #"{"to":["username:eve"]}"#)
      #expect(fixed.exitCode == 65 && fixed.errors.contains("to of a notification"))
    }
  }

  @Test func `a dry run shows what each platform's push says`() async throws {
    try await RunningServer.lend { server in
      _ = try await server.client("alice").inbox()
      let dry = try await Self.run(
        "notify", "--dry-run", "--to", "alice", "--title", "Parcel", "--subtitle", "Order 4711",
        "--link", "https://shop.example", "--action", "track=Track", "--action", "no=No",
        "--colour", "#00aa77", "At the door.", on: server)
      #expect(dry.exitCode == 0, "\(dry.errors)")
      let said =
        "Parcel: At the door.; subtitle Order 4711; link https://shop.example; buttons Track, No"
      for platform in ["apns", "webpush", "fcm"] {
        #expect(
          dry.output.contains { $0.hasPrefix(platform) && $0.contains(said) },
          "\(platform): \(dry.output)")
      }
      let apple = dry.output.first { $0.hasPrefix("apns") } ?? ""
      #expect(apple.hasSuffix("; for code only: link, actions; dropped: colour"), "\(apple)")
    }
  }
}
