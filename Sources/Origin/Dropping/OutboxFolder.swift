/// The folder `outbox/<richType>/`: every file in it becomes a notification.
struct OutboxFolder: FolderReader {
  let publisher: DropPublisher

  var folder: DropFolder { publisher.assets.folder }

  func look(at names: [Sightings.Place: Bool], again: @escaping Again) async {
    await Array(names).inParallel(Reconciliation.width) { place, _ in
      if await look(place, again) { again(place) }
    }
  }

  func lookAtEverything(again: @escaping Again) async -> String? {
    do throws(Refusal) {
      for richType in try folder.richTypes().types { try await lookAt(richType, again) }
      return nil
    } catch { return error.status == 404 ? nil : error.sentence }
  }

  private func lookAt(_ richType: String, _ again: @escaping Again) async throws(Refusal) {
    let places = try folder.entries(richType)
      .filter { $0.entry.spelling != Slip.standard }
      .map { (Sightings.Place(richType: richType, entry: $0.entry), false) }
    await look(at: Dictionary(uniqueKeysWithValues: places), again: again)
  }

  private func look(_ place: Sightings.Place, _ again: @escaping Again) async -> Bool {
    let (richType, entry) = (place.richType, place.entry)
    if entry.isTemporary { return false }
    // The folder's words are those of every file in it.
    if entry.spelling == Slip.standard { return (try? await lookAt(richType, again)) == nil }
    guard let file = Slip.file(for: entry) ?? entry.spelling else { return false }
    return await publisher.deliver(richType, file)
  }
}
