import Foundation

/// A row of the table: attacks of one kind, and how a test sees whether one of them had its way.
struct Attack: Sendable {
  /// What it is called in the table.
  let name: String
  /// What stops it, in this order, where the mode has it.
  let obstacles: [Obstacle]
  /// Does it, and returns which of its ways had an effect that was seen; nil where that cannot be
  /// tried here.
  let effects: @Sendable (HostileGround) async throws -> [String]?

  init(
    _ name: String, _ obstacles: Obstacle...,
    effects: @escaping @Sendable (HostileGround) async throws -> [String]?
  ) {
    (self.name, self.obstacles, self.effects) = (name, obstacles, effects)
  }

  static let notStopped = "**not stopped**"

  /// The cell of the table for what was seen.
  func cell(_ effects: [String], in mode: HostileMode) -> String {
    guard effects.isEmpty else { return Attack.notStopped }
    let names = obstacles.compactMap { $0.name(in: mode) }
    return names.isEmpty ? "stopped, nobody knows by what" : names.joined(separator: ", ")
  }

  static let all = onFiles + onContent + onProcesses + onResources + byHiding + onSockets + onRights
}

/// What can be said of a file from outside; two of them differ when anything was done to it.
struct FileFacts: Equatable {
  private var numbers: [Int] = []
  private var content: Data?

  /// Looks at a file; `hasContent` says whether its content and its times count.
  init(_ path: String, hasContent: Bool = true) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    numbers = [
      Int(status.st_mode), Int(status.st_uid), Int(status.st_gid), Int(status.st_ino),
    ]
    if hasContent {
      numbers += [status.st_mtim, status.st_ctim].flatMap { [$0.tv_sec, $0.tv_nsec] }
      content = try? Data(contentsOf: URL(filePath: path))
    }
  }

  /// The bytes that it takes on the disk.
  static func size(_ path: String) -> Int {
    var status = stat()
    return lstat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// Whether it may be executed in its owner's or group's name.
  static func isPrivileged(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & (S_ISUID | S_ISGID) != 0
  }
}
