import Foundation

/// A temporary folder that goes away with its owner.
final class Scratch: Sendable {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Makes a folder, with those above it.
  @discardableResult
  func makeFolder(_ path: String) throws -> URL {
    let url = folder.appending(path: path)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  /// Writes a file the way a careful person drops one: under another name first, then renamed.
  @discardableResult
  func drop(_ bytes: [UInt8], as path: String, executable: Bool = false) throws -> URL {
    let url = folder.appending(path: path)
    let draft = folder.appending(path: UUID().uuidString)
    try Data(bytes).write(to: draft)
    try FileManager.default.setAttributes(
      [.posixPermissions: executable ? 0o755 : 0o644], ofItemAtPath: draft.path)
    try makeFolder((path as NSString).deletingLastPathComponent)
    try? FileManager.default.removeItem(at: url)
    try FileManager.default.moveItem(at: draft, to: url)
    return url
  }

  /// The files that ship in `assets/`.
  static let samples = ["img/logo.png", "img/beach.jpg", "sound/chime.wav", "url/welcome.url"]

  /// Copies the samples, and nothing that somebody dropped beside them in `assets/`.
  func dropSamples(into folder: String = "assets") throws {
    for path in Self.samples { try drop(Package.bytes("assets/" + path), as: "\(folder)/\(path)") }
  }
}

/// What this package ships, and where its programs were built.
enum Package {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A program of ours, in the folder that `RICHPUSH_PROGRAMS` names, or beside the one that runs this
  /// test.
  static func program(_ name: String) throws -> URL {
    if let folder = ProcessInfo.processInfo.environment["RICHPUSH_PROGRAMS"] {
      return URL(filePath: folder).appending(path: name)
    }
    let test = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: test).deletingLastPathComponent().appending(path: name)
  }

  /// The content of a file of the repository.
  static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: root.appending(path: path)))
  }
}
