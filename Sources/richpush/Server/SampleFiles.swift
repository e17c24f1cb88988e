import Foundation

/// Sample files in a folder for each rich type, such as `img/logo.png`.
struct SampleFiles {
  /// The folder that has them.
  let folder: String

  /// The samples that are files, by place; folders, links and pipes that somebody put beside them are none.
  var places: [String] {
    let files = FileManager.default
    let richTypes = (try? files.contentsOfDirectory(atPath: folder)) ?? []
    return richTypes.sorted().flatMap { richType -> [String] in
      let names = (try? files.contentsOfDirectory(atPath: "\(folder)/\(richType)")) ?? []
      return names.sorted().map { "\(richType)/\($0)" }
    }.filter { place in
      let attributes = try? files.attributesOfItem(atPath: "\(folder)/\(place)")
      return attributes?[.type] as? FileAttributeType == .typeRegular
    }
  }

  /// Copies one sample into a drop folder, unless something of that name is there.
  func copy(_ place: String, into assets: String) throws {
    let files = FileManager.default
    let target = "\(assets)/\(place)"
    guard !files.fileExists(atPath: target) else { return }
    let parent = URL(filePath: target).deletingLastPathComponent()
    try files.createDirectory(at: parent, withIntermediateDirectories: true)
    try files.copyItem(atPath: "\(folder)/\(place)", toPath: target)
  }
}
