import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// `richpush user export` and `user erase` beside a running server: a person's data, and that nothing is left of it.
@Suite(.timeLimit(.minutes(10))) struct PersonalDataTests {
  /// A word that is nowhere else.
  private static let mark = "q9zx"
  /// The token of the device, by which Apple would find it.
  private static let handle = "handle\(mark)".utf8.map { String($0, radix: 16, uppercase: true) }
    .joined()
  private static let person = "erika\(mark)"
  private static let password = "secret of \(mark)"

  /// Where a server keeps what it has.
  struct Place: Sendable, CustomStringConvertible {
    let onPostgres: Bool
    let hasObjects: Bool
    var description: String {
      (onPostgres ? "PostgreSQL" : "SQLite") + (hasObjects ? " and an object store" : "")
    }

    static let all = (PostgresServer.isInstalled ? [false, true] : [false]).flatMap { onPostgres in
      [false, true].map { Place(onPostgres: onPostgres, hasObjects: $0) }
    }
  }

  /// What a server was started with besides its folders.
  struct Setting {
    let log: URL
    let database: PostgresServer?
    let objects: ObjectStandIn?
    /// Flags of the server and of commands.
    var flags: [String] {
      (database.map { ["--database", $0.url] } ?? [])
        + (objects.map { ["--objects", $0.url] } ?? [])
    }
    static let environment = [
      "RICHPUSH_OBJECTS_ACCESS_KEY": "key", "RICHPUSH_OBJECTS_SECRET_KEY": "secret",
    ]
  }

  /// Lends a server on which a publisher has sent things to a person, and to her and Bob.
  private static func lend(
    _ place: Place = Place(onPostgres: false, hasObjects: false),
    to body: (RunningServer, _ own: Int, _ both: Int, Setting) async throws -> Void
  ) async throws {
    let log = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    let setting = Setting(
      log: log, database: place.onPostgres ? try PostgresServer() : nil,
      objects: place.hasObjects ? try ObjectStandIn() : nil)
    let flags = ["--access-log", log.path] + setting.flags
    try await RunningServer.lend(flags: flags, environment: Setting.environment) { scratch in
      for (name, role, password) in [
        (person, "device", password), ("bob", "device", "secret of bob"),
        ("shop", "publisher", "secret of shop"), ("boss", "admin", "secret of boss"),
      ] {
        let added = try await user(
          ["add", name, "--role", role], in: scratch, setting, input: password + "\n")
        #expect(added.exitCode == 0, "\(added.errors)")
      }
    } to: { server in
      let (own, both) = try await use(server)
      try await body(server, own, both, setting)
    }
  }

  private static func user(
    _ words: [String], in scratch: Scratch, _ setting: Setting, input: String = ""
  ) async throws -> Child.Result {
    try await Child.run(
      "richpush",
      ["user"] + words + ["--data", scratch.folder.path + "/var"] + setting.flags,
      environment: Setting.environment, input: input)
  }

  /// A picture with the mark in a comment, after the first marker of the JPEG.
  private static func picture() throws -> [UInt8] {
    let sample = try Package.bytes("assets/img/beach.jpg")
    let comment = Array("picture\(mark)".utf8)
    return sample[..<2] + [0xFF, 0xFE, 0, UInt8(comment.count + 2)] + comment + sample[2...]
  }

  /// Uses what has traces of a person; returns what she alone was sent, and what she and Bob were.
  private static func use(_ server: RunningServer) async throws -> (own: Int, both: Int) {
    var client = server.client(person, password: password)
    client.device = try await client.register(handle: handle)
    let token = try await client.deviceToken()
    #expect(!token.isEmpty)
    let shop = server.client("shop", password: "secret of shop")
    try await shop.setAttributes(["city": "city\(mark)"], of: person)
    let own = try send(server)
    _ = try await client.media(own)
    _ = try await client.media(own, options: MediaOptions(width: 64))
    try await client.markRead(own)
    let both = try await shop.create(
      NewNotification(
        "for both", richType: "img", payload: "logo.png", to: .users([person, "bob"]))
    ).id
    _ = try await client.media(both)
    _ = try await server.client("boss", password: "secret of boss").devices(of: person)
    return (own, both)
  }

  /// Sends a picture to the person alone.
  private static func send(_ server: RunningServer) throws -> Int {
    let head = "--line\r\nContent-Disposition: form-data; name="
    let message = #"{"message":"message\#(mark)","to":["username:\#(person)"]}"#
    let body =
      Array(
        (head + "\"notification\"\r\nContent-Type: application/json\r\n\r\n\(message)\r\n").utf8)
      + Array(
        (head + "\"file\"; filename=\"\(mark).jpg\"\r\nContent-Type: image/jpeg\r\n\r\n").utf8)
      + (try picture()) + Array("\r\n--line--\r\n".utf8)
    let answer = try RawConnection(port: server.port).exchange(
      "POST /api/notifications HTTP/1.1\r\n"
        + RunningServer.credentials("shop", "secret of shop") + "\r\n"
        + "Content-Type: multipart/form-data; boundary=line\r\nContent-Length: \(body.count)\r\n",
      body: body)
    #expect(answer.status == 201, "\(answer.text)")
    let json = try JSONDecoder().decode(JSONValue.self, from: Data(answer.body))
    return try #require(json.id.integer)
  }

  /// Where the mark, or the digest of the picture, is: in the data folder, the logs, a dump of the database and the
  /// object store, and there also what was made of the picture.
  private static func traces(
    _ server: RunningServer, _ setting: Setting
  ) async throws -> [String] {
    let digest = try await sha256(of: picture())
    let root = server.scratch.folder.appending(path: "var")
    var texts = [
      ("log", Data(server.log.utf8)), ("access log", try Data(contentsOf: setting.log)),
    ]
    let source = try await sha256(of: Array(digest.utf8))
    for key in setting.objects?.keys ?? [] {
      let bytes = setting.objects?.bytes(key) ?? Data()
      texts.append(("object " + key, Data(key.utf8) + bytes))
    }
    for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
      let file = root.appending(path: path)
      texts.append((path, Data(path.utf8)))
      // Folders and the socket are none; a temporary file may go meanwhile.
      if let content = try? Data(contentsOf: file) { texts.append((path, content)) }
    }
    if let database = setting.database {
      let dump = try await Child.run(
        "/bin/sh", ["-c", "exec /usr/lib/postgresql/*/bin/pg_dump \"$0\"", database.url])
      #expect(dump.exitCode == 0, "\(dump.errors)")
      texts.append(("dump", Data(dump.output.joined(separator: "\n").utf8)))
    }
    return texts.filter { text in
      // The database keeps the digest of the digest for a while, so that it is known what is to be removed.
      ([mark, digest, handle] + (text.0.hasPrefix("object ") ? [source] : [])).contains {
        text.1.range(of: Data($0.utf8)) != nil
      }
    }.map(\.0)
  }

  private static func sha256(of bytes: [UInt8]) async throws -> String {
    let result = try await Child.run("/usr/bin/sha256sum", [], inputBytes: bytes)
    return String(try #require(result.output.first).prefix(64))
  }

  @Test(arguments: Place.all)
  func `an erased person leaves no trace, and others keep what they were sent`(place: Place)
    async throws
  {
    try await Self.lend(place) { server, own, both, setting in
      let picture = try await Self.sha256(of: Self.picture())
      let shared = try await Self.sha256(of: Package.bytes("assets/img/logo.png"))
      let sources = [
        try await Self.sha256(of: Array(picture.utf8)),
        try await Self.sha256(of: Array(shared.utf8)),
      ]
      if let objects = setting.objects {
        try await eventually("renditions of hers and of theirs are uploaded") {
          let counts = sources.map { source in objects.keys.count { $0.contains(source) } }
          return counts[0] >= 2 && counts[1] >= 1
        }
      }
      let before = try await Self.traces(server, setting)
      for name in ["blobs/", "renditions/"] where place.hasObjects {
        #expect(before.contains { $0.hasPrefix("object " + name) }, "\(before)")
      }
      #expect(before.contains { $0.hasPrefix("blobs/") }, "\(before)")
      #expect(before.contains { $0.contains("richpush.db") || $0 == "dump" }, "\(before)")
      #expect(!before.contains { $0.hasSuffix("log") }, "\(before)")
      let renditions = try Self.renditions(server)
      // There is no terminal to ask on.
      let erased = try await Self.user(["erase", Self.person], in: server.scratch, setting)
      #expect(erased.exitCode == 0 && erased.output == ["erased \(Self.person)"], "\(erased)")
      #expect(erased.errors.contains("user erase --number"))
      #expect(try await Self.traces(server, setting) == [])
      if let objects = setting.objects {
        for digest in [shared, sources[1]] {
          #expect(objects.keys.contains { $0.contains(digest) }, "\(objects.keys)")
        }
      }
      // With PostgreSQL each node removes its own, within seconds.
      try await eventually("renditions of what was hers alone are gone") {
        try !renditions.isSubset(of: Self.renditions(server))
      }
      let bob = server.client("bob", password: "secret of bob")
      #expect(try await bob.inbox().notifications.map(\.id) == [both])
      #expect(try await bob.media(both).contentType == "image/png")
      let shop = server.client("shop", password: "secret of shop")
      let details = try await shop.details(both)
      #expect(details.to.count == 2 && details.to.contains("username:bob"), "\(details.to)")
      await #expect(throws: RichPushError.self) { try await shop.details(own) }
      await #expect(throws: RichPushError.self) {
        try await server.client(Self.person, password: Self.password).inbox()
      }
      #expect(server.log.contains("erased user "))
    }
  }

  private static func renditions(_ server: RunningServer) throws -> Set<String> {
    let root = server.scratch.folder.appending(path: "var/renditions").path
    return Set(
      try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(".head") })
  }

  @Test(arguments: Place.all)
  func `an erasure goes on after the server was killed`(place: Place) async throws {
    try await Self.lend(place) { server, _, _, setting in
      let boss = server.client("boss", password: "secret of boss")
      try await boss.removeUser(Self.person, erasing: true)
      try await server.restart(by: SIGKILL)
      try await eventually("nothing is left") {
        try await Self.traces(server, setting).isEmpty
      }
    }
  }

  @Test(arguments: Place.all.filter(\.hasObjects))
  func `while the object store is away nothing is said to be erased, and then it is`(place: Place)
    async throws
  {
    try await Self.lend(place) { server, _, _, setting in
      let objects = try #require(setting.objects)
      objects.fail { _, _ in .status(503, "SlowDown") }
      let erased = try await Self.user(["erase", Self.person], in: server.scratch, setting)
      #expect(
        erased.exitCode != 0 && !erased.output.contains { $0.hasPrefix("erased") }, "\(erased)")
      #expect(
        erased.errors.contains("not finished, the running server goes on"), "\(erased.errors)")
      #expect(try await Self.traces(server, setting).contains { $0.hasPrefix("object blobs/") })
      try await eventually("the server has tried it") {
        server.log.contains("erasure: the object store is away")
      }
      objects.heal()
      try await eventually("nothing is left") {
        try await Self.traces(server, setting).isEmpty && server.log.contains("erased user ")
      }
    }
  }

  @Test(
    .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
  func `what another node has rendered leaves no trace either`() async throws {
    try await Self.lend(Place(onPostgres: true, hasObjects: true)) { server, own, _, setting in
      try await RunningServer.lend(
        flags: setting.flags, environment: Setting.environment
      ) { other in
        let client = other.client(Self.person, password: Self.password)
        for width in [65, 66, 67] {
          _ = try await client.media(own, options: MediaOptions(width: width))
        }
        let erased = try await Self.user(["erase", Self.person], in: server.scratch, setting)
        #expect(erased.exitCode == 0, "\(erased)")
        for node in [server, other] {
          try await eventually("nothing is left") {
            try await Self.traces(node, setting).isEmpty
          }
        }
      }
    }
  }

  @Test func `a command that was killed can be repeated until nothing is left`() async throws {
    try await Self.lend { server, _, _, setting in
      let data = server.scratch.folder.appending(path: "var").path
      try await server.restart(by: SIGTERM) {
        for _ in 0..<5 {
          let command = try Child(
            "richpush", ["user", "erase", Self.person, "--yes", "--data", data])
          try await eventually("it writes, or has ended") {
            let wal = try? FileManager.default.attributesOfItem(atPath: data + "/richpush.db-wal")
            let state = ProcessFacts(command.processIdentifier)?.state ?? "Z"
            return (wal?[.size] as? Int ?? 0) > 0 || state == "Z"
          }
          command.send(SIGKILL)
          _ = await command.exitCode()
        }
        _ = try await Self.user(["erase", Self.person, "--yes"], in: server.scratch, setting)
        #expect(try await Self.traces(server, setting) == [])
      }
    }
  }

  @Test func `an export is an archive with everything but secrets`() async throws {
    try await Self.lend { server, own, both, _ in
      let archive = server.scratch.folder.appending(path: "export.tar").path
      let program = try Package.program("richpush").path
      let exported = try await Child.run(
        "/bin/sh",
        [
          "-c", "exec \"$0\" user export \"$1\" --data \"$2\" > \"$3\"", program, Self.person,
          server.scratch.folder.path + "/var", archive,
        ])
      #expect(exported.exitCode == 0, "\(exported.errors)")
      let script = """
        import hashlib, json, sys, tarfile
        with tarfile.open(sys.argv[1]) as tar:
            for member in tar:
                data = tar.extractfile(member).read()
                name = member.name.split("/", 1)[1]
                if name.endswith(".json"): json.loads(data)
                if name.endswith(".jsonl"): [json.loads(line) for line in data.splitlines()]
                if name.startswith("media/"): name = "media " + hashlib.sha256(data).hexdigest()
                print(name)
                if name == "notifications.jsonl":
                    for line in data.splitlines():
                        one = json.loads(line)
                        print(one["notification"], one["onlyYou"], "read" in one)
        """
      let read = try await Child.run("/usr/bin/python3", ["-c", script, archive])
      #expect(read.exitCode == 0, "\(read.errors)")
      let digest = try await Self.sha256(of: Self.picture())
      for line in [
        "README.txt", "profile.json", "attributes.json", "devices.json", "sent.jsonl",
        "media \(digest)", "\(own) True True", "\(both) False False",
      ] {
        #expect(read.output.contains(line), "\(line) in \(read.output)")
      }
      let bytes = try Data(contentsOf: URL(filePath: archive))
      #expect(bytes.range(of: Data("city\(Self.mark)".utf8)) != nil)
      #expect(bytes.range(of: Data(Self.handle.utf8)) == nil)
    }
  }
}
