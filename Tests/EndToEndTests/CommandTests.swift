import Foundation
import RichPushClient
import Testing

/// The program as somebody types it.
@Suite(.timeLimit(.minutes(5))) struct CommandTests {
  @Test func `--version names version, commit and libraries`() async throws {
    let result = try await Child.run(Package.program("richpush").path, ["--version"])
    let text = result.output.joined(separator: "\n")
    #expect(
      text.contains(
        #/^richpush \d+\.\d+\.\d+, commit [0-9a-z-]+\nSQLite 3\.[\d.]+, libcurl [\d.]+, OpenSSL 3/#)
    )
  }

  @Test(arguments: [
    (["devic"], "did you mean 'device'"),
    (["device", "--usr", "a"], "did you mean '--user'"),
    (["device"], "--user is missing"),
    (["device", "--user"], "--user needs a value"),
    (["device", "--user", "a", "--user", "b"], "given twice"),
    (["device", "--user", "a", "--open=yes"], "takes no value"),
    (["device", "--user", "a", "--count", "many"], "whole number"),
    (["device", "--user", "a", "--server", "ftp://x"], "http://"),
    (["device", "--user", "a", "more"], "unexpected argument"),
    (["notify", "--payload", "x", "m"], "no recipients"),
    (["notify", "--to", "a", "--tags", "b", "--payload", "x", "m"], "exclude"),
    (["notify", "--to", "a"], "give a MESSAGE, --title or --payload"),
    (["notify", "--to", "a", "--action", "track", "m"], "ID=LABEL"),
    (["notify", "--to", "a", "--action", "=Track", "m"], "ID=LABEL"),
    (["notify", "--to", "a", "--action", "a=A=nothing", "m"], "comes a URL"),
    (["notify", "--to", "a", "--sound", "critical:2", "m"], "from 0 to 1"),
    (["notify", "--to", "a", "--relevance", "high", "m"], "from 0 to 1"),
    (["notify", "--to", "a", "--importance", "loud", "m"], "min, low, normal, high or urgent"),
    (["notify", "--to", "a", "--lock-screen", "no", "m"], "public, private or secret"),
    (["notify", "--to", "a", "--data", "[]", "m"], "a JSON object"),
    (["notify", "--to", "a", "--json", "--dry-run"], "followed by a file"),
    (["notify", "--to", "a", "--output", "xml", "m"], "text or json"),
    (["notify", "--to", "a", "--color", "#00aa77", "m"], "did you mean '--colour'"),
    (["amend", "7"], "nothing to change"),
    (["amend", "7", "--remove", "linc"], "did you mean 'link'"),
    (["amend", "7", "--remove", "link", "--link", "https://a.example"], "exclude each other"),
    (["serve", "--link-scheme", "javascript"], "must not be javascript"),
    (["serve", "--link-scheme", "DATA"], "must not be data"),
    (["serve", "--link-scheme", "myapp://"], "such as myapp for myapp://orders"),
    (["serve", "--link-scheme", "1app"], "such as myapp for myapp://orders"),
    (["notify", "--to", "a", "--payload", "x", "--expires", "soon", "m"], "12h"),
    (["serve", "--demo", "--listen", "0.0.0.0:0"], "127.0.0.1"),
    (["serve", "--prot", "1"], "unknown flag"),
    (["serve", "--trusted-proxy", "proxy.example"], "numeric address"),
    (["serve", "--tls-key", "key.pem"], "used together"),
    (["serve", "--listen", "host.example:80"], "numeric address or localhost"),
    (["serve", "--cors-origin", "app.example"], "https://app.example"),
    (["serve", "--network", "No Type"], "a rich type"),
    (["serve", "--default-type", "No Type"], "a rich type"),
    (["user", "frob", "--data", "/proc/none"], "user add NAME"),
    (["user", "list", "more", "--data", "/proc/none"], "user add NAME"),
    (["key", "frob", "--data", "/proc/none"], "key rotate"),
    (["key", "list", "--tls", "--data", "/proc/none"], "key rotate --tls"),
    (
      ["serve", "--tls-certificate", "a.pem", "--tls-certificate", "b.pem", "--tls-key", "a.key"],
      "2 and 1"
    ),
    (["store", "migrate"], "--from is missing"),
    (["store", "migrate", "--from", "var"], "--to is missing"),
    (["store", "migrate", "--from", "var", "--to", "db.example"], "postgres://richpush@"),
    (["key", "remove", "first", "--data", "/proc/none"], "key remove KEY"),
    (["asset", "check", "--type", "No Type", "."], "a rich type"),
    (["asset", "watch", "--type", "img"], "has no flag --type"),
    (["asset", "watch", "--state", "ready"], "has no flag --state"),
    (["asset", "show", "--plugins", "plugins", "img/logo.png"], "has no flag --plugins"),
    (["sent", "receipts"], "receipts ID"),
    (["sent", "receipts", "first"], "ID must be a number"),
    (["audience"], "no recipients"),
    (["outbox", "replay", "first"], "JOB must be a number"),
    (["audit", "--since", "yesterday"], "--since"),
    (["people", "role", "dora"], "--role is missing"),
    (["people", "add", "dora", "--role", "boss"], "device, publisher or admin"),
    (["people", "quota", "dora"], "--max-devices is missing"),
    (["user", "quota", "dora", "--max-devices", "0"], "from 1 to 1000000"),
    (["session", "end", "x", "--user", "a"], "ID must be a number"),
    (["session", "list"], "--user is missing"),
    (["serve", "--push", ","], "names no service"),
    (["push", "check", "--push", "gcm"], "choose from embedded"),
    (["push", "list", "--state", "lost"], "queued, sent, failed"),
    (["user", "add", "bob", "--role", "boss"], "device, publisher or admin"),
    (["user", "add", "b b"], "letters, digits"),
    (["plugin", "new", "cup", "--language", "cobol"], "sh, python"),
    (["plugin", "new", "Bad Name"], "a lowercase letter"),
    (["plugin", "run", "cup", "--verb", "frob"], "validate, render or describe"),
    (["device", "--user", "a", "--profile", "toaster"], "ios, android"),
    (["--version", "more"], "unexpected argument"),
    (["help", "serve", "more"], "unexpected argument"),
  ])
  func `refuses what it does not understand with a sentence and 64`(
    words: [String], sentence: String
  ) async throws {
    let result = try await Child.run("richpush", words)
    #expect(result.exitCode == 64)
    #expect(result.errors.hasPrefix("richpush: ") && result.errors.contains(sentence))
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(result.output.isEmpty)
  }

  @Test func `what could not be written is no success`() async throws {
    let program = try Package.program("richpush").path
    let result = try await Child.run(
      "/bin/sh", ["-c", "exec \(program) config template > /dev/full"])
    #expect(result.exitCode == 1 && result.errors.contains("No space left"), "\(result)")
  }

  @Test func `refuses a variable that nothing reads`() async throws {
    let result = try await Child.run(
      "richpush", ["device", "--user", "a"], environment: ["RICHPUSH_SEVER": "x"])
    #expect(result.exitCode == 64)
    #expect(result.errors.contains("RICHPUSH_SERVER"))
  }

  @Test func `explains itself and every command`() async throws {
    let page = try await Child.run("richpush", ["--help"])
    #expect(page.exitCode == 0)
    for name in ["serve", "device", "notify", "user"] {
      #expect(page.output.contains { $0.hasPrefix("  \(name) ") })
      let help = try await Child.run("richpush", [name, "--help"])
      #expect(help.exitCode == 0)
      #expect(help.output.first?.hasPrefix("richpush \(name): ") == true)
      #expect(help.output.contains("Flags:"))
    }
  }

  @Test func `simulates a phone that shows what it received`() async throws {
    try await RunningServer.lend { server in
      let folder = try server.scratch.makeFolder("phone")
      let account = ["--server", server.endpoint.absoluteString]
      let phone = try Child(
        "richpush",
        ["device", "--user", "alice", "--folder", folder.path, "--count", "3"] + account)
      var lines = phone.lines.makeAsyncIterator()
      #expect(await lines.next()?.hasPrefix("alice listens at http://127.0.0.1:") == true)

      let tutorial = try TutorialClient(port: server.port, user: "alice")
      #expect(try tutorial.sendRichNotification().status == 200)
      let first = try #require(await lines.next())
      #expect(first.hasPrefix("#0 img \"Check this image out!\": image/png, 512x512, 29.5 kB, "))
      let logo = [UInt8](try Data(contentsOf: folder.appending(path: "0.png")))
      #expect(logo == (try Package.bytes("assets/img/logo.png")))

      try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "assets/img/new.jpg")
      let notify = try await Child.run(
        "richpush",
        [
          "notify", "--to", "alice", "--type", "img", "--payload", "new.jpg", "--form", "alert",
          "Look at this",
        ],
        environment: ["RICHPUSH_SERVER": server.endpoint.absoluteString])
      #expect(notify.exitCode == 0, "\(notify.errors)")
      #expect(notify.output == ["#1 to username:alice (1 user, 1 device): /api/notifications/1"])
      // An alert has its text where the telephone shows it.
      let second = try #require(await lines.next())
      #expect(second.hasPrefix("#1 img \"Look at this\": image/jpeg, 1200x800"), "\(second)")

      #expect(try tutorial.notify("alice", text: "hi").status == 200)
      #expect(await lines.next() == "alert \"From alice: hi\"")
      #expect(await phone.exitCode() == 0)
    }
  }

  @Test func `goes on where it stopped, and starts afresh with another server`() async throws {
    let scratch = try Scratch()
    for round in ["first", "second"] {
      try await RunningServer.lend { server in
        let listen = [
          "device", "--user", "alice", "--folder", scratch.folder.path, "--count", "1",
          "--server", server.endpoint.absoluteString,
        ]
        let phone = try Child("richpush", listen)
        var lines = phone.lines.makeAsyncIterator()
        #expect(await lines.next()?.contains("listens") == true)
        _ = try await server.client("alice").create(.logo(to: "alice", "\(round), awake"))
        #expect(await lines.next()?.contains("\(round), awake") == true)
        #expect(await phone.exitCode() == 0)
        _ = try await server.client("alice").create(.logo(to: "alice", "\(round), asleep"))
        let later = try await Child.run("richpush", listen)
        #expect(later.output.last?.contains("\(round), asleep") == true)
        #expect(later.output.count == 2)
      }
    }
  }

  @Test func `misses nothing while it is off, though it never got a push before`() async throws {
    try await RunningServer.lend { server in
      let folder = try server.scratch.makeFolder("phone")
      let listen = [
        "device", "--user", "alice", "--folder", folder.path, "--count", "1",
        "--server", server.endpoint.absoluteString,
      ]
      let phone = try Child("richpush", listen)
      var lines = phone.lines.makeAsyncIterator()
      #expect(await lines.next()?.contains("listens") == true)
      phone.send(SIGKILL)
      _ = await phone.exitCode()
      _ = try await server.client("alice").create(.logo(to: "alice", "asleep"))
      let later = try await Child.run("richpush", listen)
      #expect(later.output.last?.contains("asleep") == true)
    }
  }

  @Test func `tells by its exit code why it failed`() async throws {
    try await RunningServer.lend { server in
      let words = ["notify", "--to", "a", "--server", server.endpoint.absoluteString, "m"]
      let wrong = try await Child.run(
        "richpush", words + ["--payload", "logo.png"],
        environment: ["RICHPUSH_PASSWORD": "wrong"])
      #expect(wrong.exitCode == 77)
      let missing = try await Child.run("richpush", words + ["--payload", "missing.png"])
      #expect(missing.exitCode == 65)
      #expect(missing.errors.contains("missing.png"))
    }
    let nobody = try await Child.run(
      "richpush", ["device", "--user", "a", "--server", "http://127.0.0.1:1"])
    #expect(nobody.exitCode == 69)
  }

  @Test func `says of a rich type that nobody has that it is none`() async throws {
    let types = "there are: img, sound, url"
    try await RunningServer.lend(
      flags: ["--demo", "--network", "nosuch", "--network", "img", "--default-type", "pictures"]
    ) { server in
      let missing = "there is no plugin of that name; \(types)"
      for flag in ["--network nosuch", "--default-type pictures"] {
        #expect(server.log.contains("\(flag): \(missing)"), "\(server.log)")
      }
      #expect(server.log.contains("--network img has no effect: its plugin.json does not request"))
      let picture = try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "logo.png")
      for (words, code) in [
        (["notify", "--to", "a", "--payload", "logo.png", "m"], 65), (["asset", "list"], 66),
        (["asset", "add", picture.path], 66),
      ] as [([String], Int32)] {
        let result = try await Child.run(
          "richpush", words + ["--type", "nosuch", "--server", server.endpoint.absoluteString])
        #expect(result.exitCode == code, "\(words)")
        #expect(result.errors.contains("“nosuch”; \(types)"), "\(words): \(result.errors)")
        #expect(result.output.isEmpty)
      }
    }
  }

  @Test func `says what failed in words, and never shows a value of the program's`() async throws {
    let scratch = try Scratch()
    let file = try scratch.drop([], as: "file").path
    try await RunningServer.lend(flags: ["--demo", "--sandbox", "off"]) { scratch in
      try scratch.drop(Array("#!/bin/sh\nexit 69\n".utf8), as: "plugins/away", executable: true)
      try scratch.drop(Array("#!/bin/sh\nkill $$\n".utf8), as: "plugins/gone", executable: true)
    } to: { server in
      let unkept = try await Child.run(
        "richpush",
        ["device", "--user", "a", "--server", server.endpoint.absoluteString]
          + ["--folder", file + "/below"])
      #expect(unkept.exitCode == 1)
      #expect(unkept.errors == "richpush: \(file)/below: Not a directory\n", "\(unkept.errors)")
      for type in ["away", "gone"] {
        let new = NewNotification("m", richType: type, payload: "x", to: .users(["a"]))
        await #expect(throws: RichPushError.self) { try await server.client("a").create(new) }
      }
      let log = server.log
      #expect(log.contains("plugin: gone, ") && log.contains("plugin: away, "), "\(log)")
      let dump = /\w*(Error|Refusal|Fault|Ending|Failure)\(|Optional\(|Error Domain|exited\(/
      #expect(!log.contains(dump), "\(log)")
    }
  }

  @Test func `keeps users with their roles`() async throws {
    try await RunningServer.lend(flags: []) { scratch in
      let data = scratch.folder.appending(path: "var").path
      for (name, role) in [("dora", "device"), ("paul", "publisher")] {
        let added = try await Child.run(
          "richpush", ["user", "add", name, "--role", role, "--data", data],
          input: "secret of \(name)\n")
        #expect(added.exitCode == 0, "\(added.errors)")
      }
    } to: { server in
      let dora = RichPushClient(
        endpoint: server.endpoint, user: "dora", password: "secret of dora")
      let paul = RichPushClient(
        endpoint: server.endpoint, user: "paul", password: "secret of paul")
      let sent = try await paul.create(.logo(to: "dora"))
      #expect(try await dora.media(sent.id).contentType == "image/png")
      let refused = await #expect(throws: RichPushError.self) {
        try await dora.create(.logo(to: "paul"))
      }
      #expect(refused?.status == 403)
      let stranger = await #expect(throws: RichPushError.self) {
        try await server.client("dora").inbox()
      }
      #expect(stranger?.code == .unauthorized)
      let data = server.scratch.folder.appending(path: "var").path
      let list = try await Child.run("richpush", ["user", "list", "--data", data])
      let rows = list.output.map { $0.split(separator: "\t").map(String.init) }
      #expect(rows.map { $0.prefix(2) } == [["dora", "device"], ["paul", "publisher"]])
      #expect(rows.allSatisfy { $0.count == 3 && Int($0[2]) != nil })
    }
  }
}
