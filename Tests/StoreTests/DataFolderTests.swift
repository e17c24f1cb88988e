import FoundationEssentials
import Glibc
import Testing

@testable import Store

/// What becomes a store, what is refused, and that nothing is changed which is not the store's.
@Suite(.sqlite, .timeLimit(.minutes(1))) struct DataFolderTests {
  private let scratch = Scratch()
  private var target: String { scratch.folder + "/target" }

  // MARK: - New stores

  @Test(arguments: ["absent", "empty", "lost+found", "slash"])
  func `an absent folder, an empty one and a new disk become stores`(what: String) async throws {
    if what != "absent" { mkdir(target, 0o755) }
    if what == "lost+found" { mkdir(target + "/lost+found", 0o700) }
    let path = what == "slash" ? target + "/" : target
    try await Store(folder: path, access: .sharedOrNew).accounts
      .addUser("bob", hash: "1", role: .admin)
    let store = try Store(folder: path)
    #expect(try await store.accounts.users().map(\.name) == ["bob"])
  }

  @Test func `a command that only reads makes no store`() throws {
    for isThere in [false, true] {
      if isThere { mkdir(target, 0o755) }
      let before = Snapshot(scratch.folder)
      let error = #expect(throws: StoreError.self) { try Store(folder: target, access: .shared) }
      #expect(error?.code == .missing && error?.reason.contains("no store") == true)
      #expect(Snapshot(scratch.folder) == before)
    }
  }

  @Test func `of what a process leaves that is killed while it makes a store, one is made`()
    async throws
  {
    let whole = Scratch()
    do { try await whole.open().accounts.addUser("bob", hash: "1", role: .admin) }
    try await whole.databaseClosed()
    // In the order in which they are made; the database is empty until SQLite writes to it.
    for count in 0...5 {
      let scratch = Scratch()
      if count > 0 { scratch.write("", to: "richpush.db") }
      for name in ["blobs", "blobs/00", "renditions", "tmp"].prefix(max(0, count - 1)) {
        mkdir("\(scratch.folder)/\(name)", 0o700)
      }
      if count == 5 {
        scratch.write(try whole.read("node"), to: "node")
        unlink("\(scratch.folder)/richpush.db")
      }
      try await scratch.open().accounts.addUser("bob", hash: "1", role: .admin)
      #expect(try await scratch.open().check().isSound, "\(count)")
    }
  }

  // MARK: - Other folders

  /// How something else gets into a folder.
  static let foreign: [(String, @Sendable (String) -> Void)] = [
    ("a file", { make("\($0)/letter.txt") }), ("a hidden file", { make("\($0)/.profile") }),
    ("the names of /var", { for name in ["lib", "tmp"] { mkdir("\($0)/\(name)", 0o1777) } }),
    ("a folder with a name of ours", { mkdir("\($0)/blobs", 0o755) }),
    ("files with names of ours", { for name in ["lock", "objects"] { make("\($0)/\(name)") } }),
    ("a program named node", { make("\($0)/node", "\u{7F}ELF node 1 2") }),
    ("a folder named node", { mkdir("\($0)/node", 0o755) }),
    ("a database of MySQL's", { make("\($0)/database", "mysql://host/name\n") }),
    ("secrets, one of them a URL", { make("\($0)/database", "postgres://shop@host/shop\n") }),
    ("a text with the database's name", { make("\($0)/richpush.db", "not a database") }),
    ("a folder with the database's name", { mkdir("\($0)/richpush.db", 0o755) }),
    ("a link that leads nowhere", { symlink("/nowhere", "\($0)/richpush.db") }),
    ("a link to a folder", { symlink("/etc", "\($0)/tmp") }),
    ("a file named lost+found", { make("\($0)/lost+found") }),
    ("a name that is no text", { make("\($0)/", raw: [0xFF, 0xFE]) }),
    ("a name with a line break", { make("\($0)/a\nb") }),
    (
      "a half copy, and a letter",
      {
        mkdir("\($0)/richpush.unfinished", 0o700)
        make("\($0)/letter.txt")
      }
    ),
  ]

  @Test(arguments: foreign.map(\.0))
  func `a folder with anything else is refused by everything that opens stores, and not touched`(
    what: String
  ) async throws {
    mkdir(target, 0o755)
    try #require(Self.foreign.first { $0.0 == what }).1(target)
    chmod(target, 0o2775)
    let source = Scratch()
    let store = try source.open()
    let backup = source.folder + "/backup"
    try await store.backup(to: backup)
    let before = Snapshot(target)
    for access in [Store.Access.owner, .shared, .sharedOrNew] {
      let error = #expect(throws: StoreError.self) { try Store(folder: target, access: access) }
      #expect(error?.code == .conflict, "\(error as Any)")
    }
    #expect(throws: StoreError.self) { try Store.requireSpace(in: target) }
    await #expect(throws: StoreError.self) { try await store.backup(to: target) }
    #expect(throws: StoreError.self) { try Store.restore(from: backup, to: target) }
    #expect(throws: StoreError.self) {
      try Store.restore(from: target, to: scratch.folder + "/new")
    }
    #expect(!Store.exists(in: target) && access(scratch.folder + "/new", F_OK) != 0)
    #expect(Snapshot(target) == before)
  }

  // MARK: - In a store

  @Test func `what others put into a store keeps its mode and stays, links as well`() async throws {
    try await scratch.databaseClosed(after: try scratch.open())
    let elsewhere = Scratch()
    elsewhere.write("secret", to: "file")
    chmod(elsewhere.folder, 0o755)
    let names = ["access.log", "tmp/letter.txt", "tmp/upload-form.pdf", "blobs/readme"]
    for name in names { scratch.write("theirs", to: name) }
    for name in ["backups", "blobs/more", "blobs/ab/more"] {
      mkdir("\(scratch.folder)/\(name)", 0o755)
      scratch.write("theirs", to: name + "/file")
    }
    symlink(elsewhere.folder, "\(scratch.folder)/link")
    symlink(elsewhere.folder, "\(scratch.folder)/blobs/link")
    symlink(elsewhere.folder + "/file", "\(scratch.folder)/tmp/store-1")
    let theirs = ["\(scratch.folder)/backups", "\(scratch.folder)/blobs/more", elsewhere.folder]
      .map(Snapshot.init)
    let modes = names.map { mode("\(scratch.folder)/\($0)") }
    let store = try scratch.open()
    _ = try await store.collect(Retention())
    _ = try await store.check(repairing: true)
    #expect(names.map { mode("\(scratch.folder)/\($0)") } == modes && !modes.contains(0))
    #expect(mode("\(scratch.folder)/tmp/store-1") != 0, "a link is not removed")
    let now = ["\(scratch.folder)/backups", "\(scratch.folder)/blobs/more", elsewhere.folder]
      .map(Snapshot.init)
    #expect(now == theirs)
  }

  @Test func `a part may be a link to a folder that is closed to others, which is not changed`()
    async throws
  {
    try await scratch.databaseClosed(after: try scratch.open())
    let disk = Scratch()
    rename("\(scratch.folder)/blobs", "\(scratch.folder)/former")
    symlink(disk.folder, "\(scratch.folder)/blobs")
    for (prepare, sentence) in [
      ({ _ = chmod(disk.folder, 0o755) }, "other users can reach"),
      (
        {
          chmod(disk.folder, 0o700)
          disk.write("", to: "letter")
        }, "not empty"
      ),
    ] {
      prepare()
      let before = Snapshot(disk.folder)
      let error = #expect(throws: StoreError.self) { try scratch.open() }
      #expect(error?.reason.contains(sentence) == true, "\(error as Any)")
      #expect(Snapshot(disk.folder) == before)
    }
    unlink(disk.folder + "/letter")
    mkdir(disk.folder + "/lost+found", 0o755)
    let blob = try await scratch.open().blobs.add(bytes: [1])
    #expect(disk.files().contains { $0.hasSuffix(blob.digest.hex) })
    #expect(mode(disk.folder + "/lost+found") == 0o755)
  }

  // MARK: - Copies

  @Test func `a backup that was interrupted is made anew in the same folder`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.blob = try await store.blobs.add(bytes: [1])
    _ = try await store.notifications.create(new)
    for stage in ["begun", "marked", "filled", "moving", "lost+found"] {
      let target = "\(target)-\(stage)"
      if stage == "moving" {
        // All but what makes it a store is there.
        try await store.backup(to: target)
        mkdir(target + "/richpush.unfinished", 0o700)
        rename(target + "/richpush.db", target + "/richpush.unfinished/richpush.db")
      } else {
        mkdir(target, 0o755)
        mkdir(target + "/richpush.unfinished", 0o700)
      }
      if stage == "lost+found" { mkdir(target + "/lost+found", 0o700) }
      if stage == "marked" { make(target + "/richpush.unfinished/richpush.db") }
      if stage == "filled" { _ = try Store(folder: target + "/richpush.unfinished") }
      let error = #expect(throws: StoreError.self) { try Store(folder: target) }
      #expect(error?.reason.contains("unfinished") == true, "\(error as Any)")
      try await store.backup(to: target)
      try Store.restore(from: target, to: target + "-restored")
      #expect(try await Store(folder: target + "-restored").check().isSound, "\(stage)")
      #expect(access(target + "/richpush.unfinished", F_OK) != 0)
    }
  }

  @Test func `a data folder and backups as version 0.1 left them are opened`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.blob = try await store.blobs.add(bytes: Array("content".utf8))
    _ = try await store.notifications.create(new)
    let backup = scratch.folder + "/backup"
    try await store.backup(to: backup)
    // Without `node`, which a backup does not have; with what a server leaves.
    for name in ["lock", "collection.lock", "richpush.db.before-8"] { make("\(backup)/\(name)") }
    mkdir(backup + "/scratch", 0o711)
    mkdir(backup + "/damaged", 0o700)
    #expect(try await Store(folder: backup, access: .shared).check().isSound)

    // Records in PostgreSQL: a dump instead of a database, and in what is restored neither of them.
    let dump = scratch.folder + "/dump"
    try FileManager.default.copyItem(atPath: backup, toPath: dump)
    for name in ["richpush.db", "richpush.db-wal", "richpush.db-shm", "lock", "collection.lock"] {
      unlink("\(dump)/\(name)")
    }
    make(dump + "/database", "postgres://richpush@db.example/richpush\n")
    #expect(Store.exists(in: dump), "as it is restored")
    make(dump + "/richpush.dump", "PGDMP")
    let restored = scratch.folder + "/restored"
    #expect(try Store.restore(from: dump, to: restored).dump == dump + "/richpush.dump")
    let error = #expect(throws: StoreError.self) { try Store(folder: restored) }
    #expect(error?.reason.contains("postgres://richpush@db.example/richpush") == true)
    #expect(Store.exists(in: restored))
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.permissions : 0
  }
}

/// What is known of every file below a folder, and of the folder: everything but when it was read.
private struct Snapshot: Equatable {
  private var facts: [String: [Int]] = [:]

  init(_ folder: String) { add(folder) }

  private mutating func add(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    facts[path] = [
      Int(status.st_ino), Int(status.st_mode), Int(status.st_uid), Int(status.st_gid),
      Int(status.st_nlink), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
      status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
    ]
    guard status.fileType == S_IFDIR else { return }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      add("\(path)/\(name)")
    }
  }
}

/// Writes a file, at a path that ends with the bytes `raw`.
private func make(_ path: String, _ text: String = "", raw: [UInt8] = []) {
  let name = Array(path.utf8) + raw + [0]
  let file = name.withUnsafeBytes { bytes in
    bytes.withMemoryRebound(to: CChar.self) {
      open($0.baseAddress ?? UnsafePointer(strdup("")), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    }
  }
  _ = text.withCString { write(file, $0, strlen($0)) }
  close(file)
}

extension Scratch {
  fileprivate func read(_ name: String) throws -> String {
    try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
  }

  /// Returns when the database of a store that nobody else uses is closed.
  fileprivate func databaseClosed(after store: consuming Store) async throws {
    _ = consume store
    try await databaseClosed()
  }
}
