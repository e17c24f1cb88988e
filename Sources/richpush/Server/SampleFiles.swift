import FoundationEssentials
import Glibc
import Media
import Origin

/// The demonstration's sample files, one folder per rich type, such as `img/logo.png`.
enum SampleFiles {
  /// Creates the folders of a demonstration, and prints what fails; the server can start without it.
  ///
  /// A new drop folder gets all samples, an existing one only the picture that the tutorial's request sends.
  /// Only a demonstration does this: on a real server, a disk that is not mounted must not look like an
  /// empty folder.
  static func prepareDemo(_ configuration: OriginConfiguration) {
    // With the user's own umask, as if the user had created them, and owned by the server for uploads.
    let denied = umask(configuration.mask)
    defer { umask(denied) }
    let assets = configuration.assets
    let picture = "\(configuration.standard.richType)/\(configuration.standard.payload)"
    let isNew = !exists(assets)
    func own(_ path: String) { configuration.user?.own(path) }
    attempt("cannot create \(assets)") { try createFolder(assets, own) }
    for name in names where isNew || name == picture {
      attempt("the sample \(name) is not copied") { try copy(name, into: assets, own) }
    }
    // Only root changes the plugins that the server runs.
    attempt("cannot create \(configuration.plugins)") { try createFolder(configuration.plugins) }
  }

  /// The samples that are regular files, as `img/logo.png`.
  private static var names: [String] {
    let files = FileManager.default
    let richTypes = (try? files.contentsOfDirectory(atPath: Programs.samples)) ?? []
    return richTypes.sorted().flatMap { richType -> [String] in
      let names = (try? files.contentsOfDirectory(atPath: "\(Programs.samples)/\(richType)")) ?? []
      return names.sorted().map { "\(richType)/\($0)" }
    }.filter { name in
      let attributes = try? files.attributesOfItem(atPath: "\(Programs.samples)/\(name)")
      return attributes?[.type] as? FileAttributeType == .typeRegular
    }
  }

  /// Copies a sample, unless the name exists or the folder of its rich type is a link.
  private static func copy(
    _ name: String, into assets: String, _ own: (String) -> Void
  ) throws {
    let target = "\(assets)/\(name)"
    let parent = URL(filePath: target).deletingLastPathComponent().path
    guard !exists(target), !isLink(parent) else { return }
    try createFolder(parent, own)
    try FileManager.default.copyItem(atPath: "\(Programs.samples)/\(name)", toPath: target)
    own(target)
  }

  /// Creates a folder unless it exists, and calls `own` with it; folders above it are created too.
  private static func createFolder(_ path: String, _ own: (String) -> Void = { _ in }) throws {
    if exists(path) { return }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    own(path)
  }

  private static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  private static func isLink(_ path: String) -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
  }

  private static func attempt(_ failure: String, _ body: () throws -> Void) {
    do { try body() } catch { Terminal.printError("\(failure): \(error.logDescription)") }
  }
}
