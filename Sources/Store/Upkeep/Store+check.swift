import FoundationEssentials
import Glibc

extension Store {
  /// Verifies every blob against its name, every rendition against its head and every reference.
  ///
  /// With `repairing`, what can be derived again is put right: a damaged rendition is removed, and
  /// made anew when somebody asks for it; damaged content is set aside in `damaged/`, and a file of
  /// the drop folder whose content is gone is taken in again by the next look at the folder.
  package func check(repairing: Bool = false) async throws -> CheckReport {
    var report = try await upkeep.run { [self] in
      var report = CheckReport()
      try checkDatabase(&report)
      try checkBlobs(&report, repairing: repairing)
      checkRenditions(&report, repairing: repairing)
      return report
    }
    for asset in try missingContent(of: "asset") {
      if repairing { try await forgetContent(of: asset) }
      report.add(
        "the content \(asset.digest) of the asset \(asset.owner) is gone"
          + (repairing ? "; the file will be taken in again" : ""), isRepaired: repairing)
    }
    for notification in try missingContent(of: "notification") {
      report.add(
        "the content \(notification.digest) of notification \(notification.owner) is gone; "
          + "put the file into the drop folder again, or restore a backup")
    }
    return report
  }

  private func checkDatabase(_ report: inout CheckReport) throws {
    let troubles = try database.read { connection in
      try connection.all("PRAGMA integrity_check(20)") { try $0.next(String.self) }
        + connection.all("PRAGMA foreign_key_check") {
          "a dangling row in \(try $0.next(String.self))"
        }
    }
    for trouble in troubles where trouble != "ok" { report.add("the database: \(trouble)") }
  }

  private func checkBlobs(_ report: inout CheckReport, repairing: Bool) throws {
    try blobs.files.forEachFile { file in
      guard let digest = Digest(hex: file.name) else {
        return report.add("\(file.path) is not the store's; remove it")
      }
      report.blobs += 1
      guard try Digest(ofFile: file.path) != digest else { return }
      if repairing {
        try Folder.renameDurably(file.path, to: "\(folder.path)/damaged/\(file.name)")
      }
      report.add(
        "the content \(digest) is damaged" + (repairing ? "; it was set aside in damaged/" : ""),
        isRepaired: repairing)
    }
  }

  private func checkRenditions(_ report: inout CheckReport, repairing: Bool) {
    renditions.files.forEachFile { file in
      let isHead = file.name.hasSuffix(".head")
      guard let key = Digest(hex: isHead ? file.name.dropLast(5) : file.name[...]) else {
        return report.add("\(file.path) is not the store's; remove it")
      }
      if isHead {
        guard renditions.stored(key)?.hasBody != true else { return }
      } else {
        report.renditions += 1
        // A rendition that is being stored has its bytes before its head.
        let isBeingStored = now().timeIntervalSince(file.modified) < 60
        guard !isBeingStored, !renditions.isWhole(key) else { return }
      }
      if repairing { renditions.forget(key) }
      report.add(
        "the rendition \(key) is damaged" + (repairing ? "; it will be made again" : ""),
        isRepaired: repairing)
    }
  }

  /// The assets or notifications whose content is no longer stored.
  private func missingContent(
    of table: String
  ) throws -> [(owner: String, richType: String, name: String, digest: Digest)] {
    let columns = table == "asset" ? "rich_type || '/' || name, rich_type, name" : "id, '', ''"
    let references = try database.read { connection in
      try connection.all("SELECT \(columns), blob FROM \(table) WHERE blob IS NOT NULL") { row in
        (
          owner: try row.next(String.self), richType: try row.next(String.self),
          name: try row.next(String.self), digest: try row.next(Digest.self)
        )
      }
    }
    return references.filter { blobs.size(of: $0.digest) == nil }
  }

  private func forgetContent(
    of asset: (owner: String, richType: String, name: String, digest: Digest)
  ) async throws {
    try await database.write { connection in
      try connection.run(
        "UPDATE asset SET stamp = '' WHERE rich_type = ? AND name = ? AND blob = ?",
        asset.richType, asset.name, asset.digest)
    }
  }
}

extension Renditions {
  /// Whether a rendition's bytes are those its head speaks of.
  fileprivate func isWhole(_ key: Digest) -> Bool {
    guard let rendition = stored(key) else { return false }
    return (try? Digest(ofFile: rendition.path)) == rendition.digest
  }
}

extension Digest {
  /// The digest of a file's content.
  init(ofFile path: String) throws(StoreError) {
    let file = try Descriptor(path, O_RDONLY | O_NOFOLLOW)
    var sum = RunningDigest()
    try file.read { piece throws(StoreError) in sum.add(piece) }
    self = sum.finish()
  }
}
