import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// A server whose content is in a real object store, OpenStack Swift with its S3 interface.
@Suite(.timeLimit(.minutes(30))) struct ObjectStoreSystemTests {
  /// Lends a server with an object store of its own.
  private static func lend(
    to body: (RunningServer, StandIn) async throws -> Void
  ) async throws {
    let objects = try StandIn("object_store")
    try await RunningServer.lend(flags: flags(objects), environment: key) { server in
      try await body(server, objects)
    }
  }

  private static func flags(_ objects: StandIn, _ others: String...) -> [String] {
    ["--demo", "--objects", url(objects)] + others
  }

  private static func url(_ objects: StandIn) -> String {
    "s3://content/richpush?endpoint=http://127.0.0.1:\(objects.port)"
  }

  private static let key = [
    "RICHPUSH_OBJECTS_ACCESS_KEY": "richpush:media", "RICHPUSH_OBJECTS_SECRET_KEY": "s3secret",
  ]

  /// A picture, whose file is sent as it is, and one of its renditions.
  private static let targets = ["?", "?width=320"]

  /// Asks again as long as the object store has not answered within the five seconds of the server, unless it is
  /// away: the machine may stand still.
  private static func media(
    _ id: Int, _ options: String, of server: RunningServer, isAway: Bool = false
  ) throws -> RawConnection.Answer {
    for _ in 0..<(isAway ? 0 : 5) {
      let answer = try media(id, options, of: server, isAway: true)
      if answer.status != 503 { return answer }
      sleep(1)
    }
    return try server.get(
      "/api/notifications/\(id)\(options)", RunningServer.credentials("alice"))
  }

  private static func files(_ server: RunningServer, in folder: String) throws -> [URL] {
    let root = server.scratch.folder.appending(path: "var/\(folder)")
    return try FileManager.default.subpathsOfDirectory(atPath: root.path)
      .filter { $0.contains("/") }.map { root.appending(path: $0) }
  }

  /// Removes the files of all content, as a new node does not have them; returns how many.
  private static func removeFiles(_ server: RunningServer) throws -> Int {
    let files = try files(server, in: "blobs") + Self.files(server, in: "renditions")
    for file in files { try FileManager.default.removeItem(at: file) }
    return files.count
  }

  @Test func `media survive the loss of the data folder's files, bit by bit`() async throws {
    try await Self.lend { server, _ in
      let alice = server.client("alice")
      let shore = Package.root.appending(path: "Tests/Samples/shore.jpg")
      let asset = try await alice.upload(shore, as: "shore.jpg")
      #expect(asset.sha256 != nil)
      let id = try await alice.create(
        NewNotification("Look", richType: "img", payload: "shore.jpg", to: .users(["alice"]))
      ).id
      let first = try Self.targets.map { try Self.media(id, $0, of: server) }
      #expect(first.allSatisfy { $0.status == 200 })
      // Renditions are uploaded without anyone waiting.
      try await alice.waitUntilReady()
      try await eventually("the renditions are uploaded") {
        // A rendition has two files.
        let content = try Self.files(server, in: "blobs").count
        let all = content + (try Self.files(server, in: "renditions").count) / 2
        return try server.measured(
          #"richpush_objects_requests_total{operation="put",outcome="succeeded"}"#) >= Double(all)
      }
      #expect(try Self.removeFiles(server) > 10)
      try await server.restart(by: SIGTERM)

      let second = try Self.targets.map { try Self.media(id, $0, of: server) }
      for (before, after) in zip(first, second) {
        #expect(after.status == 200 && after.body == before.body)
        #expect(after.fields["etag"] == before.fields["etag"])
        #expect(after.fields["last-modified"] == before.fields["last-modified"])
      }
      #expect(
        try server.measured(
          #"richpush_objects_cache_total{content="rendition",outcome="miss"}"#) >= 2)
      #expect(try server.measured(#"richpush_renditions_total{outcome="made"}"#) == 0)
      let part = try server.get(
        "/api/notifications/\(id)", RunningServer.credentials("alice"), "Range: bytes=10-19")
      #expect(part.status == 206 && part.body.elementsEqual(first[0].body[10..<20]))
    }
  }

  @Test func `while the object store is away what is cached is served, and then it heals`()
    async throws
  {
    try await Self.lend { server, objects in
      let alice = server.client("alice")
      let shore = Package.root.appending(path: "Tests/Samples/shore.jpg")
      let known = try await alice.create(.logo(to: "alice")).id
      try await alice.upload(shore, as: "shore.jpg")
      let lost = try await alice.create(
        NewNotification("Look", richType: "img", payload: "shore.jpg", to: .users(["alice"]))
      ).id
      try await alice.waitUntilReady()
      let picture = try Self.media(known, "?width=100", of: server)
      #expect(picture.status == 200)

      for (end, begin, width) in [("stop", "start", 331), ("pause", "resume", 332)] {
        _ = try Self.removeFiles(server)
        // What was mapped is served without its file.
        try await server.restart(by: SIGTERM)
        let fetched = try Self.media(known, "?width=100", of: server)
        #expect(fetched.body == picture.body, "\(fetched.text.prefix(500)), log: \(server.log)")
        try objects.tell(["do": end])
        let start = ContinuousClock.now
        let refused = try Self.media(lost, "?width=\(width)", of: server, isAway: true)
        #expect(refused.status == 503 && refused.fields["retry-after"] == "5", "\(refused.text)")
        // The deadline of a request to the object store is 5 s.
        #expect(.now - start < .seconds(15))
        #expect(
          try Self.media(known, "?width=100", of: server, isAway: true).body == picture.body)
        try await eventually("readyz says what is missing") {
          let ready = try server.get("/readyz")
          return ready.status == 503 && ready.text.contains("object store")
        }
        #expect(try server.get("/healthz").status == 200)
        #expect(try server.measured("richpush_objects_away") == 1)
        let error = await #expect(throws: RichPushError.self) {
          try await alice.upload(shore, name: "\(end).jpg", richType: "img")
        }
        #expect(error?.status == 503 && error?.retryAfter != nil)

        try objects.tell(["do": begin])
        try await eventually("it heals") { try server.get("/readyz").status == 200 }
        #expect(try Self.media(lost, "?width=\(width)", of: server).status == 200)
        try await alice.upload(shore, as: "\(begin).jpg")
        #expect(try server.measured("richpush_objects_away") == 0)
        #expect(server.log.contains("objects: the object store is back"))
      }
    }
  }

  @Test func `check and backup know the object store`() async throws {
    try await Self.lend { server, objects in
      let alice = server.client("alice")
      _ = try await alice.create(.logo(to: "alice"))
      try await alice.waitUntilReady()
      _ = try Self.removeFiles(server)
      let root = server.scratch.folder.path
      func store(_ words: String...) async throws -> Child.Result {
        try await Child.run(
          "richpush", ["store"] + words + ["--objects", Self.url(objects)], environment: Self.key)
      }
      let check = try await store("check", "--data", root + "/var")
      #expect(check.exitCode == 0 && "\(check.output)".contains("4 blobs in the object store"))
      let backup = try await store("backup", root + "/backup", "--data", root + "/var")
      #expect("\(backup.output)".contains("not in the backup: 4 blobs"), "\(backup)")
      let alone = try await Child.run("richpush", ["store", "check", "--data", root + "/var"])
      #expect(alone.exitCode != 0 && alone.errors.contains("add --objects"))
      let wrong = try await Child.run(
        "richpush", ["serve", "--demo", "--objects", Self.url(objects), "--data", root + "/new"],
        environment: Self.key.merging(["RICHPUSH_OBJECTS_SECRET_KEY": "wrong"]) { $1 })
      #expect(wrong.exitCode != 0 && wrong.errors.contains("refuses the access key"), "\(wrong)")
    }
  }

  @Test(.enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
  func `with a shared database, a node serves what another has taken in and rendered`()
    async throws
  {
    let (objects, database) = (try StandIn("object_store"), try PostgresServer())
    let flags = Self.flags(objects, "--database", database.url)
    try await RunningServer.lend(flags: flags, environment: Self.key) { first in
      try await RunningServer.lend(flags: flags, environment: Self.key) { second in
        let shore = Package.root.appending(path: "Tests/Samples/shore.jpg")
        let alice = first.client("alice")
        try await alice.upload(shore, as: "shore.jpg")
        let id = try await alice.create(
          NewNotification("Look", richType: "img", payload: "shore.jpg", to: .users(["alice"]))
        ).id
        let rendered = try Self.media(id, "?profile=ios", of: first)
        try await eventually("the rendition is uploaded") {
          let all = try Self.files(first, in: "renditions").count / 2
          return try first.measured(
            #"richpush_objects_requests_total{operation="put",outcome="succeeded"}"#) > Double(all)
        }
        let fetched = try Self.media(id, "?profile=ios", of: second)
        #expect(fetched.status == 200 && fetched.body == rendered.body)
        #expect(fetched.fields["etag"] == rendered.fields["etag"])
        #expect(try second.measured(#"richpush_renditions_total{outcome="made"}"#) == 0)
        // What no node has rendered, this one does, of the content that it fetches.
        #expect(try Self.media(id, "?width=333", of: second).status == 200)
        #expect(
          try second.measured(#"richpush_objects_cache_total{content="blob",outcome="miss"}"#) == 1)
      }
    }
  }

  @Test func `content of more than 64 MiB is stored in parts`() async throws {
    try await Self.lend { server, _ in
      let alice = server.client("alice")
      let root = server.scratch.folder
      let large = Data("RIFF".utf8) + Data(repeating: 7, count: 70 << 20)
      let file = root.appending(path: "large.bin")
      try large.write(to: file)
      try server.scratch.addKeepingType()
      try await eventually("the plugin is known") {
        (try? await alice.upload(file, name: "large.bin", richType: "keep")) != nil
      }
      let id = try await alice.create(
        NewNotification("Look", richType: "keep", payload: "large.bin", to: .users(["alice"]))
      ).id
      _ = try Self.removeFiles(server)
      try await server.restart(by: SIGTERM)
      #expect(try Self.media(id, "", of: server).body.elementsEqual(large))
    }
  }
}

extension RichPushClient {
  /// Waits until every asset is prepared.
  fileprivate func waitUntilReady() async throws {
    try await eventually("all assets are ready") {
      let counts = try await assetCounts()
      return counts.preparing == 0 && counts.ready > 0
    }
  }

  /// Uploads a picture to a server with an object store.
  ///
  /// Tries again as long as the object store has not answered within the five seconds of the server: the machine
  /// may stand still.
  @discardableResult
  func upload(_ picture: URL, as name: String) async throws -> Asset {
    var asset: Asset?
    try await eventually("it is stored") {
      do { asset = try await upload(picture, name: name, richType: "img") } catch let error
        as RichPushError where error.status == 503
      {}
      return asset != nil
    }
    return try #require(asset)
  }
}

extension Scratch {
  /// The rich type `keep`, which sends any file as it is.
  func addKeepingType() throws {
    try drop(
      Array(
        """
        {"protocol":1,"name":"keep","executable":"keep","mode":"cgi","verbs":["render"],
         "accepts":["*/*"],"produces":["*/*"],"limits":{"seconds":30}}
        """.utf8), as: "plugins/keep/plugin.json")
    try drop(
      Array(
        "#!/bin/sh\nprintf 'Content-Type: application/octet-stream\\nX-Sendfile: asset\\n\\n'\n"
          .utf8), as: "plugins/keep/keep",
      executable: true)
  }
}
