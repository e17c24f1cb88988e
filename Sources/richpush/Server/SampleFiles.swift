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
    let files = FileManager.default
    let assets = configuration.assets
    let picture = "\(configuration.standard.richType)/\(configuration.standard.payload)"
    let isNew = !files.fileExists(atPath: assets)
    let hasPicture = files.fileExists(atPath: "\(assets)/\(picture)")
    for name in names where isNew || name == picture {
      attempt("the sample \(name) is not copied") { try copy(name, into: assets) }
    }
    for folder in [assets, configuration.plugins] {
      attempt("cannot create \(folder)") {
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
    }
    let created: String? = isNew ? "" : hasPicture ? nil : "/" + picture
    if let created { configuration.user?.own(assets + created) }
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

  /// Copies a sample, unless the name exists.
  private static func copy(_ name: String, into assets: String) throws {
    let files = FileManager.default
    let target = "\(assets)/\(name)"
    guard !files.fileExists(atPath: target) else { return }
    let parent = URL(filePath: target).deletingLastPathComponent()
    try files.createDirectory(at: parent, withIntermediateDirectories: true)
    try files.copyItem(atPath: "\(Programs.samples)/\(name)", toPath: target)
  }

  private static func attempt(_ failure: String, _ body: () throws -> Void) {
    do { try body() } catch { Terminal.printError("\(failure): \(error.logDescription)") }
  }
}
