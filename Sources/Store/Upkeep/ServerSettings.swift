import Glibc

extension Store {
  /// Adds to the audit log that a server has started, and the names of the settings that are not as at its last start in
  /// this folder.
  ///
  /// - Parameters:
  ///   - version: The version that has started.
  ///   - settings: The values of what is set, by names; only digests of them are kept, in the file `settings`.
  /// - Throws: `StoreError` if that can't be stored now.
  package func recordStart(of version: String, settings: [String: String]) async throws {
    // Without the secret, a digest does not show which of a few values a setting has.
    let secret = try await accounts.vapidSecret()
    let digests = settings.map { name, value in (name, Digest(of: "\(secret) \(name) \(value)")) }
    let present = Dictionary(uniqueKeysWithValues: digests)
    let last = await upkeep.run { [folder] in ServerSettings.read(in: folder) }
    var changes: [AuditChange] = []
    if let last {
      changes = Set(last.keys).union(present.keys).filter { last[$0] != present[$0] }.sorted().map {
        AuditChange(.settingChanged, .setting($0))
      }
    }
    try await audit.addAuditEntries(changes + [AuditChange(.serverStarted, detail: version)])
    // After a crash before this, the same settings are listed once more.
    if last != present {
      try await upkeep.run { [folder] () throws(StoreError) in
        try ServerSettings.write(present, in: folder)
      }
    }
  }
}

/// The file `settings` of a data folder: a line with a name and a digest for each setting of the last start.
private enum ServerSettings {
  /// Nil if there is none.
  static func read(in folder: DataFolder) -> [String: Digest]? {
    guard let file = try? StoreFile(path(in: folder), O_RDONLY | O_NOFOLLOW),
      let text = try? file.text(limit: 1 << 20)
    else { return nil }
    let settings = text.split(separator: "\n").compactMap { line -> (String, Digest)? in
      let words = line.split(separator: " ")
      guard words.count == 2, let digest = Digest(hex: words[1]) else { return nil }
      return (String(words[0]), digest)
    }
    return Dictionary(settings) { $1 }
  }

  static func write(_ settings: [String: Digest], in folder: DataFolder) throws(StoreError) {
    let path = path(in: folder)
    let new = try TemporaryFile(in: folder)
    let lines = settings.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
    try Array(lines.joined().utf8).span.bytes.withUnsafeBytes { bytes throws(StoreError) in
      try new.file.write(bytes)
    }
    try new.file.synchronize()
    try new.rename(to: path)
    try FileSystem.synchronizeParent(of: path)
  }

  private static func path(in folder: DataFolder) -> String { "\(folder.path)/settings" }
}
