import CLinux
import FoundationEssentials
import Glibc
import PluginHost
import Primitives

/// A plugin from an archive in a hidden folder beside where it will be installed, removed with this object.
package final class UnpackedPlugin: Sendable {
  /// The plugin's rich type.
  package let name: String
  /// Its folder, until it is installed.
  package var path: String { place + "/" + name }
  private let folder: String
  /// Made by this process under a random name, on the file system of the plugins' folder.
  private let place: String

  /// Unpacks an archive into a hidden folder in a folder of plugins.
  ///
  /// All that is created is a file or a folder, with the mode 0644 or 0755, in a folder that did not exist before.
  ///
  /// - Throws: ``PluginTester/Problem`` if it is no archive of a plugin, or cannot be written; nothing is left then.
  package init(_ archive: String, into folder: String) throws(PluginTester.Problem) {
    self.folder = folder
    guard FileManager.default.fileExists(atPath: folder + "/.") else {
      throw PluginTester.Problem(reason: "there is no folder \(folder); --plugins names another")
    }
    place = "\(folder)/.install-\(UUID())"
    // What is no archive changes nothing in the folder.
    var reader: Reader
    do { reader = try Reader(FileDescriptor(archive, O_RDONLY | O_NONBLOCK), into: place) } catch {
      throw Self.problem(with: archive, error)
    }
    guard mkdir(place, 0o755) == 0, chmod(place, 0o755) == 0 else {
      throw PluginTester.Problem(reason: "\(folder) cannot be written to: \(Errno.current)")
    }
    do { name = try reader.unpack() } catch {
      try? FileManager.default.removeItem(atPath: place)
      throw Self.problem(with: archive, error)
    }
  }

  private static func problem(with archive: String, _ error: any Error) -> PluginTester.Problem {
    PluginTester.Problem(
      reason: "\(archive): \((error as? PluginTester.Problem)?.reason ?? "\(error)")")
  }

  deinit { try? FileManager.default.removeItem(atPath: place) }

  /// What is installed under the plugin's name; nil if nothing is.
  package var predecessor: String? {
    var status = stat()
    return lstat("\(folder)/\(name)", &status) == 0 ? "\(folder)/\(name)" : nil
  }

  /// Makes it the plugin of its name, in one step.
  ///
  /// - Parameter replaces: Whether a plugin of that name may be replaced, which is kept under a hidden name.
  /// - Returns: The path of the plugin, and that of the one before.
  /// - Throws: ``PluginTester/Problem`` if there is one already, or the folder cannot be written to.
  package func install(
    replacing replaces: Bool
  ) throws(PluginTester.Problem) -> (path: String, former: String?) {
    let target = "\(folder)/\(name)"
    // Whoever calls the plugin meanwhile gets the old one or the new one.
    if clinux_rename_to_free(path, target) == 0 {
      try makeDurable()
      return (target, nil)
    }
    guard errno == EEXIST else { throw Self.failure(target) }
    guard replaces else {
      throw PluginTester.Problem(
        reason: "there is a plugin \(target) already; --replace replaces it")
    }
    guard clinux_exchange(path, target) == 0 else {
      throw Self.failure(target)
    }
    // It may have what the operator has put there, so it is for the operator to remove.
    for number in 1... {
      let former = "\(folder)/.\(name).before-\(number)"
      if clinux_rename_to_free(path, former) == 0 {
        try makeDurable()
        return (target, former)
      }
      guard errno == EEXIST else { throw Self.failure(former) }
    }
    throw Self.failure(target)
  }

  private func makeDurable() throws(PluginTester.Problem) {
    do { try FileDescriptor(folder, O_RDONLY | O_DIRECTORY).synchronize() } catch {
      throw PluginTester.Problem(reason: "\(folder) cannot be written to: \(error)")
    }
  }

  private static func failure(_ path: String) -> PluginTester.Problem {
    PluginTester.Problem(reason: "\(path) cannot be written: \(Errno.current)")
  }

  /// Reads an archive once, from its beginning to its end.
  private struct Reader {
    private let archive: FileDescriptor
    private let place: String
    private var (files, folders): (Set<String>, Set<String>) = ([], [])
    private var total = 0
    private var name: Substring?
    private var next: TarHeader?

    /// Reads the first header.
    init(_ archive: FileDescriptor, into place: String) throws {
      let status = try archive.status()
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw PluginTester.Problem(reason: "it is no file")
      }
      // Twice, since padding and headers count.
      guard status.st_size <= 2 * PluginArchive.Limit.bytes else {
        throw PluginTester.Problem(
          reason: "it has more than \(PluginArchive.Limit.bytes >> 20) MiB")
      }
      (self.archive, self.place) = (archive, place)
      next = try TarHeader(archive.readExactly(TarHeader.blockSize))
    }

    /// Unpacks all, and returns the name of the plugin.
    mutating func unpack() throws -> String {
      while let header = next {
        try unpack(header)
        next = try TarHeader(archive.readExactly(TarHeader.blockSize))
      }
      // What follows the end is padding, or not ours.
      while case let rest = try archive.readSome(limit: 1 << 16), !rest.isEmpty {
        guard rest.allSatisfy({ $0 == 0 }) else {
          throw PluginTester.Problem(reason: "it has something behind its end")
        }
      }
      guard let name, !files.isEmpty else {
        throw PluginTester.Problem(reason: "there is no plugin in it")
      }
      for folder in folders { try FileDescriptor(place + "/" + folder, O_RDONLY).synchronize() }
      return String(name)
    }

    private mutating func unpack(_ header: TarHeader) throws {
      var path = header.path
      if header.kind == .folder, path.hasSuffix("/") { path.removeLast() }
      if let problem = PluginArchive.problem(of: path) {
        throw PluginTester.Problem(reason: "\(path) \(problem)")
      }
      guard header.mode & ~0o777 == 0 else {
        throw PluginTester.Problem(
          reason: "\(path) has a set-user-ID, set-group-ID or sticky bit, which no plugin needs")
      }
      let names = path.split(separator: "/")
      guard let first = names.first, Plugin.isValidName(String(first)), name ?? first == first
      else {
        throw PluginTester.Problem(
          reason: "it does not have one folder, named as a rich type, that everything is in")
      }
      name = first
      try makeFolders(header.kind == .folder ? names[...] : names.dropLast())
      guard header.kind == .file else { return }
      guard names.count > 1, !folders.contains(path), files.insert(path).inserted else {
        throw PluginTester.Problem(reason: "\(path) occurs twice, or is no file in a folder")
      }
      total += header.size
      guard header.size <= PluginArchive.Limit.bytes, total <= PluginArchive.Limit.bytes else {
        throw PluginTester.Problem(
          reason: "its files have more than \(PluginArchive.Limit.bytes >> 20) MiB")
      }
      try requireSpace()
      try write(header, to: place + "/" + path)
    }

    private mutating func makeFolders(_ names: ArraySlice<Substring>) throws {
      for count in names.indices {
        let path = names[...count].joined(separator: "/")
        guard !folders.contains(path) else { continue }
        guard !files.contains(path) else {
          throw PluginTester.Problem(reason: "\(path) is both a file and a folder")
        }
        folders.insert(path)
        try requireSpace()
        let folder = place + "/" + path
        // Whatever the umask is.
        guard mkdir(folder, 0o755) == 0, chmod(folder, 0o755) == 0 else { throw Errno.current }
      }
    }

    private func requireSpace() throws {
      guard files.count + folders.count <= PluginArchive.Limit.entries else {
        throw PluginTester.Problem(
          reason: "it has more than \(PluginArchive.Limit.entries) files")
      }
    }

    private func write(_ header: TarHeader, to path: String) throws {
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
      let file = try FileDescriptor(path, flags, mode: 0o600)
      try file.writeContent(of: archive, count: header.size)
      let padding = try archive.readExactly(header.paddedSize - header.size)
      guard padding.allSatisfy({ $0 == 0 }) else {
        throw PluginTester.Problem(reason: "it is damaged behind \(header.path)")
      }
      let isProgram = header.mode & 0o100 != 0
      let mode = isProgram ? PluginArchive.programMode : PluginArchive.fileMode
      guard fchmod(file.number, mode_t(mode)) == 0 else { throw Errno.current }
      try file.synchronize()
    }
  }
}
