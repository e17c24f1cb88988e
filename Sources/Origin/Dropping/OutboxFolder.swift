/// The folder `outbox/<richType>/`: every file in it becomes a notification.
struct OutboxFolder: FolderReader {
  let publisher: DropPublisher

  var folder: DropFolder { publisher.assets.folder }

  func look(at names: [Sightings.Place: Bool], again: @escaping Again) async {
    await names.inParallel(Reconciliation.width) { place, _ in
      if await look(place) { again(place) }
    }
  }

  func lookAtEverything(again: @escaping Again) async -> String? {
    do throws(Refusal) {
      for richType in try folder.richTypes().types {
        let places = try folder.entries(richType).map {
          (Sightings.Place(richType: richType, entry: $0.entry), false)
        }
        await look(at: Dictionary(uniqueKeysWithValues: places), again: again)
      }
      return nil
    } catch { return error.status == 404 ? nil : error.sentence }
  }

  private func look(_ place: Sightings.Place) async -> Bool {
    let (richType, entry) = (place.richType, place.entry)
    guard !entry.isTemporary, entry.spelling != Slip.standard else { return false }
    guard let file = Slip.file(for: entry) ?? entry.spelling else { return false }
    return await publisher.deliver(richType, file)
  }
}
