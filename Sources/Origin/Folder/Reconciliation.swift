import Store

/// Makes the catalogue equal to the drop folder, name by name.
struct Reconciliation: FolderReader {
  let assets: Assets
  /// Publishes files by what lies beside them; nil when the operator has not enabled that.
  let publisher: DropPublisher?

  var folder: DropFolder { assets.folder }

  /// Beside the rich types in lists: what lies in the drop folder itself.
  static let root = "."
  /// As many files are looked at together: while some wait for the disk, others are read and checked.
  static let width = 256

  /// Looks at every name, and forgets those whose files are gone.
  func lookAtEverything(again: @escaping Again) async -> String? {
    let found: (types: [String], others: [FolderEntry])
    do throws(Refusal) {
      found = try assets.folder.richTypes()
    } catch {
      await assets.refuse(Self.root, Self.root, error.sentence, stamp: "")
      return error.sentence
    }
    await misplaced(found.others)
    for richType in found.types { await reconcile(richType, again) }
    let kept = Set(found.types + [Self.root])
    for gone in (try? assets.store.assetTypes()) ?? [] where !kept.contains(gone) {
      await forget(gone, (try? assets.store.assetStamps(gone)) ?? [:], except: [])
    }
    return nil
  }

  func look(at names: [Sightings.Place: Bool], again: @escaping Again) async {
    let files = names.keys.filter { !$0.entry.isTemporary }
    for (richType, places) in Dictionary(grouping: files, by: \.richType) {
      assets.validation.prepare(richType, places.count)
    }
    // Whoever dropped them waits; the pictures for devices are made when all have been looked at.
    await assets.bustle.during {
      // In the order of the catalogue, where neighbours are written down together at less cost.
      let sorted = names.sorted { $0.key.entry.shown > $1.key.entry.shown }
      await sorted.inParallel(Self.width) { place, closed in
        await look(place, closed: closed, again)
      }
    }
  }

  private func reconcile(_ richType: String, _ again: @escaping Again) async {
    // Read before the folder is: a name that comes in between is not known, and not forgotten.
    guard let known = try? assets.store.assetStamps(richType) else { return }
    let entries: [(entry: FolderEntry, stamp: String)]
    do throws(Refusal) {
      entries = try assets.folder.entries(richType)
    } catch {
      if error.status == 404 { return await forget(richType, known, except: []) }
      return await assets.refuse(richType, Self.root, error.sentence, stamp: "")
    }
    let identity = assets.validation.identity(richType)
    var present: Set<String> = []
    var changed: [Sightings.Place: Bool] = [:]
    let forms = Set(entries.lazy.map(\.entry.bytes))
    for (entry, stamp) in entries where !entry.isTemporary {
      if Slip.file(for: entry) != nil, publisher != nil || Slip.isResult(entry) {
        changed[Sightings.Place(richType: richType, entry: entry)] = false
        continue
      }
      let shown = shown(entry, among: forms)
      present.insert(shown)
      if known[shown] != stamp + " " + identity {
        changed[Sightings.Place(richType: richType, entry: entry)] = false
      }
    }
    await look(at: changed, again: again)
    await forget(richType, known, except: present)
  }

  private func look(_ place: Sightings.Place, closed: Bool, _ again: @escaping Again) async {
    let (richType, entry) = (place.richType, place.entry)
    guard !entry.isTemporary else { return }
    if let file = Slip.file(for: entry) {
      if let publisher {
        if await publisher.deliver(richType, file) { again(place) }
        return
      }
      if Slip.isResult(entry) { return }
      return await refuse(richType, entry, entry.shown, Slip.isOff)
    }
    guard let name = entry.name else {
      return await refuse(richType, entry, entry.shown, entry.problem)
    }
    if isShadowed(richType, entry, name) {
      return await refuse(
        richType, entry, EscapedName.plain(entry.spelling ?? entry.shown),
        "A file of the same name in Unicode's composed form lies beside it: remove one of them.")
    }
    do throws(Refusal) {
      let asset = try await assets.lookHere(
        richType, name, spelling: entry.spelling, closed: closed)
      if [Assets.isComing, Assets.isFull].contains(asset.reason) {
        again(place)
      } else if let publisher, await publisher.deliverBeside(richType, entry) {
        again(place)
      }
    } catch {
      switch error.status {
      case 404: break
      case 503: again(place)
      default: assets.log("\(richType)/\(name.value): \(error.sentence)")
      }
      // Another form of a name that went may lie there, and take its place.
      let isASCII = entry.bytes.allSatisfy { $0 < 0x80 }
      if error.status == 404, closed, !isASCII { await reconcile(richType, again) }
    }
  }
}
