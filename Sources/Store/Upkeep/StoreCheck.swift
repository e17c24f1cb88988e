import FoundationEssentials

/// What a check of the store found.
package struct CheckReport: Sendable, Equatable {
  /// A problem that was found.
  package struct Finding: Sendable, Equatable {
    /// What is wrong and what was done about it, for people.
    package let sentence: String
    /// Whether it was repaired.
    package let isRepaired: Bool
  }

  /// The number of blobs compared with their digests.
  package internal(set) var blobs = 0
  /// The number of blobs in the object store compared with their digests; nil without one.
  package internal(set) var objects: Int?
  /// The number of renditions compared with their headers.
  package internal(set) var renditions = 0
  /// The problems; empty if there are none.
  package internal(set) var findings: [Finding] = []
  /// What could not be checked, and why.
  package internal(set) var notes: [String] = []

  /// Whether every problem was repaired.
  package var isSound: Bool { findings.allSatisfy(\.isRepaired) }

  mutating func add(_ sentence: String, isRepaired: Bool = false) {
    findings.append(Finding(sentence: sentence, isRepaired: isRepaired))
  }
}

extension Store {
  /// Compares every blob with its digest and every rendition with its header, and looks for references to
  /// missing content.
  ///
  /// `repairing` moves damaged content to `damaged/`, removes damaged renditions, which are rendered again
  /// on demand, and marks assets without content, so that the next scan of the drop folder reads their
  /// files again. Blobs that the object store does not have are uploaded if they are here.
  ///
  /// Reads every blob of the object store that something refers to.
  package func check(repairing: Bool = false) async throws -> CheckReport {
    if objects == nil, let url = folder.objectStore { throw folder.missingObjectStore(url) }
    let database = try await tables.check()
    var report = try await upkeep.run { [self] in
      var report = CheckReport()
      report.notes = database.notes
      for problem in database.problems { report.add("the database: \(problem)") }
      try checkBlobs(&report, repairing: repairing)
      checkRenditions(&report, repairing: repairing)
      return report
    }
    do { try await checkReferences(&report, repairing: repairing) } catch let error as StoreError
      where [.damaged, .unreadable].contains(error.code) && !database.problems.isEmpty
    {
      report.notes.append("what the records refer to (the database is damaged)")
    }
    return report
  }

  /// Looks for references to missing content.
  private func checkReferences(_ report: inout CheckReport, repairing: Bool) async throws {
    let (assets, versions, notifications) = (
      try await tables.assetContents(), try await tables.versionContents(),
      try await tables.notificationContents()
    )
    let remote = try await checkObjects(
      Set(assets.map(\.blob) + versions.map(\.blob) + notifications.map(\.blob)), &report,
      repairing: repairing)
    func isGone(_ digest: Digest) -> Bool {
      blobs.size(of: digest) == nil && !remote.contains(digest)
    }
    for (richType, name, digest) in assets where isGone(digest) {
      if repairing { try await tables.removeStamp(richType, name, blob: digest) }
      report.add(
        "the content \(digest) of the asset \(richType)/\(name) is gone"
          + (repairing ? "; the file will be imported again" : ""), isRepaired: repairing)
    }
    for (richType, name, digest) in versions where isGone(digest) {
      if repairing { try await tables.removeVersion(richType, name, blob: digest) }
      report.add(
        "the content \(digest) that the asset \(richType)/\(name) had before is gone"
          + (repairing ? "; it can't be brought back" : ""), isRepaired: repairing)
    }
    for (id, digest) in notifications where isGone(digest) {
      report.add(
        "the content \(digest) of notification \(id) is gone; "
          + "put the file into the drop folder again, or restore a backup")
    }
  }

  private func checkBlobs(_ report: inout CheckReport, repairing: Bool) throws {
    try blobs.files.forEachFile { file in
      guard let digest = Digest(hex: file.name) else {
        return report.add("\(file.path) is not the store's; remove it")
      }
      report.blobs += 1
      guard try Digest(ofFile: file.path) != digest else { return }
      if repairing {
        try FileSystem.renameDurably(file.path, to: "\(folder.path)/damaged/\(file.name)")
      }
      report.add(
        "the content \(digest) is damaged" + (repairing ? "; it was moved to damaged/" : ""),
        isRepaired: repairing)
    }
  }

  /// Compares the blobs of the object store with their digests; returns the digests it has.
  private func checkObjects(
    _ digests: Set<Digest>, _ report: inout CheckReport, repairing: Bool
  ) async throws -> Set<Digest> {
    guard objects != nil else { return [] }
    report.objects = 0
    var sound: Set<Digest> = []
    for digest in digests.sorted(by: { $0.hex < $1.hex }) {
      let problem: String
      do throws(StoreError) {
        try await blobs.verifyObject(digest)
        report.objects? += 1
        sound.insert(digest)
        continue
      } catch {
        guard [.missing, .damaged].contains(error.code) else { throw error }
        problem = error.reason
      }
      guard let size = blobs.size(of: digest),
        try await upkeep.run({ [blobs] in try blobs.isIntact(digest) })
      else {
        report.add(problem)
        continue
      }
      if repairing { try await blobs.replaceObject(Blob(digest: digest, size: size)) }
      report.add(
        problem + (repairing ? "; it was uploaded again" : "; the data folder has it"),
        isRepaired: repairing)
    }
    return sound
  }

  private func checkRenditions(_ report: inout CheckReport, repairing: Bool) {
    renditions.files.forEachFile { file in
      let isHeader = file.name.hasSuffix(".head")
      guard let key = Digest(hex: isHeader ? file.name.dropLast(5) : file.name[...]) else {
        return report.add("\(file.path) is not the store's; remove it")
      }
      if isHeader {
        guard renditions.storedHeader(key)?.hasSize != true else { return }
      } else {
        report.renditions += 1
        // A rendition that is being stored has bytes but no header yet.
        let isBeingStored = now().timeIntervalSince(file.modified) < 60
        guard !isBeingStored, renditions.storedHeader(key)?.isIntact != true else { return }
      }
      if repairing { renditions.remove(key) }
      report.add(
        "the rendition \(key) is damaged" + (repairing ? "; it will be rendered again" : ""),
        isRepaired: repairing)
    }
  }
}
