import FoundationEssentials
import Glibc
import PluginHost
import Primitives

/// A plugin's folder as one file, to give it to another machine: a tar archive that has the folder and nothing else.
///
/// The same files make the same bytes, whoever packs them and when.
package enum PluginArchive {
  /// What an archive has at most: files and folders, the bytes of all files, and folders in each other.
  enum Limit {
    static let entries = 4096
    static let bytes = 256 << 20
    static let depth = 32
  }

  /// The mode of a file and of a program or folder; nothing else of a mode is kept.
  static let (fileMode, programMode) = (0o644, 0o755)

  /// Why a path must not be in an archive, as the end of a sentence; nil if it may.
  ///
  /// Hidden files are not part of a plugin's identity, and Python would run what is in `__pycache__`.
  static func problem(of path: String) -> String? {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    guard names.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
      return "leads out of the plugin's folder"
    }
    guard names.count <= Limit.depth else { return "lies in more than \(Limit.depth) folders" }
    guard names.allSatisfy({ $0.utf8.count <= 255 }) else { return "has a name that is too long" }
    guard !names.contains(where: { $0.hasPrefix(".") || $0 == "__pycache__" }) else {
      return "is hidden, or compiled by Python"
    }
    let isPlain = path.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    return isPlain ? nil : "has control characters in its name"
  }
}

// MARK: - Packing

extension PluginArchive {
  /// What was packed.
  package struct Packed: Sendable {
    /// The archive.
    package let path: String
    /// How many files it has.
    package let files: Int
    /// The names that were left out: hidden ones, and those compiled by Python.
    package let omitted: [String]
  }

  /// Packs the folder of a plugin.
  ///
  /// - Parameters:
  ///   - tester: The plugin in its folder.
  ///   - output: The archive; nil for one in the current folder with the plugin's name and version.
  ///   - replaces: Whether a file of this name may be replaced.
  /// - Returns: The archive, and what it has.
  /// - Throws: ``PluginTester/Problem`` if it cannot be used, or has something that an archive cannot have.
  package static func pack(
    _ tester: PluginTester, to output: String?, replaces: Bool
  ) throws(PluginTester.Problem) -> Packed {
    guard let plugin = tester.plugin, ArchiveEntryKind.of(tester.path) == .folder else {
      throw PluginTester.Problem(
        reason:
          "\(tester.path) is no folder of a plugin; put a single file into a folder of its name")
    }
    if let problem = plugin.problem {
      throw PluginTester.Problem(reason: "the plugin cannot be used: \(problem)")
    }
    guard plugin.executable.hasPrefix(tester.path + "/") else {
      throw PluginTester.Problem(
        reason: "its executable \(plugin.executable) is not in its folder, so it cannot be packed")
    }
    let (paths, omitted) = try files(of: tester.path, name: tester.name)
    let path = output ?? defaultName(plugin)
    let draft = path + ".\(UUID())"
    defer { unlink(draft) }
    do {
      let file = try FileDescriptor(draft, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
      for path in paths { try add(path, in: tester.path, name: tester.name, to: file) }
      // Two blocks of zeros end it.
      try file.write([UInt8](repeating: 0, count: 2 * TarHeader.blockSize))
      try file.synchronize()
      // Unlike rename(2), link(2) replaces nothing.
      let result = replaces ? rename(draft, path) : link(draft, path)
      guard result == 0 else { throw Errno.current }
    } catch let error as PluginTester.Problem {
      throw error
    } catch let error as Errno where error.rawValue == EEXIST {
      throw PluginTester.Problem(reason: "\(path) exists already; --replace replaces it")
    } catch { throw PluginTester.Problem(reason: "\(path) cannot be written: \(error)") }
    return Packed(path: path, files: paths.count, omitted: omitted)
  }

  private static func defaultName(_ plugin: Plugin) -> String {
    let version = plugin.manifest.version
    let isPlain =
      !version.isEmpty && version.utf8.count <= 64
      && version.utf8.allSatisfy { $0.isAlphanumeric || "._+-".utf8.contains($0) }
    return plugin.richType + (isPlain ? "-" + version : "") + ".plugin.tar"
  }

  /// The paths of all files below a folder, in the order of their bytes, and the names that are left out.
  private static func files(
    of folder: String, name: String
  ) throws(PluginTester.Problem) -> (paths: [String], omitted: [String]) {
    var (files, omitted, pending, count) = ([String](), [String](), [""], 0)
    while let parent = pending.popLast() {
      let place = folder + (parent.isEmpty ? "" : "/" + parent)
      for entry in try names(in: place) {
        let path = parent.isEmpty ? entry : parent + "/" + entry
        if entry.hasPrefix(".") || entry == "__pycache__" {
          omitted.append(path)
          continue
        }
        count += 1
        guard count < Limit.entries else {
          throw PluginTester.Problem(reason: "it has more than \(Limit.entries) files")
        }
        if let problem = problem(of: name + "/" + path) {
          throw PluginTester.Problem(reason: "\(path) \(problem)")
        }
        switch ArchiveEntryKind.of(folder + "/" + path) {
        case .file: files.append(path)
        case .folder: pending.append(path)
        case .other:
          throw PluginTester.Problem(
            reason: "\(path) is a link or no file: an archive has files and folders only")
        }
      }
    }
    return (files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, omitted.sorted())
  }

  private static func names(in folder: String) throws(PluginTester.Problem) -> [String] {
    let listing: FolderListing
    do { listing = try FolderListing(FileDescriptor(folder, O_RDONLY | O_DIRECTORY)) } catch {
      throw PluginTester.Problem(reason: "\(folder) cannot be read: \(error)")
    }
    var names: [String] = []
    for name in listing.names {
      let bytes = name.dropLast().map(UInt8.init(bitPattern:))
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw PluginTester.Problem(reason: "\(folder) has a name that is not UTF-8")
      }
      names.append(text)
    }
    return names
  }

  private static func add(
    _ path: String, in folder: String, name: String, to archive: FileDescriptor
  ) throws {
    let file = try FileDescriptor(folder + "/" + path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    let status = try file.status()
    let size = Int(status.st_size)
    guard status.st_mode & S_IFMT == S_IFREG, size <= Limit.bytes else {
      throw PluginTester.Problem(
        reason: "\(path) is no file, or has more than \(Limit.bytes >> 20) MiB")
    }
    let mode = status.st_mode & S_IXUSR == 0 ? fileMode : programMode
    let header = TarHeader(path: name + "/" + path, mode: mode, size: size)
    guard let bytes = header.bytes else {
      throw PluginTester.Problem(reason: "\(path) is too long a name for an archive")
    }
    try archive.write(bytes)
    try archive.writeContent(of: file, count: size)
    try archive.write([UInt8](repeating: 0, count: header.paddedSize - size))
    guard try archive.status().st_size <= Limit.bytes else {
      throw PluginTester.Problem(reason: "it has more than \(Limit.bytes >> 20) MiB")
    }
  }
}

/// What is at a path, without following a link.
enum ArchiveEntryKind {
  case file, folder, other

  static func of(_ path: String) -> ArchiveEntryKind {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .other }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    default: return .other
    }
  }
}

extension FileDescriptor {
  private static let pieceSize = 1 << 16

  /// Copies so many bytes from where another file is read.
  ///
  /// - Throws: ``PluginTester/Problem`` if there are fewer.
  func writeContent(of file: FileDescriptor, count: Int) throws {
    var rest = count
    while rest > 0 {
      let piece = try file.readSome(limit: min(rest, Self.pieceSize))
      if piece.isEmpty { throw PluginTester.Problem(reason: "it ends too early, or was changed") }
      try write(piece)
      rest -= piece.count
    }
  }

  /// Reads so many bytes.
  ///
  /// - Throws: ``PluginTester/Problem`` if there are fewer.
  func readExactly(_ count: Int) throws -> [UInt8] {
    let bytes = try readAll(limit: count)
    guard bytes.count == count else {
      throw PluginTester.Problem(reason: "it ends too early: it is not complete")
    }
    return bytes
  }
}
