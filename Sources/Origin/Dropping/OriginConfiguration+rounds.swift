import Store

extension OriginConfiguration {
  /// What keeps an eye on the drop folder, and on the outbox when publishing by dropping is on.
  ///
  /// - Throws: `ConfigurationError` when the publisher is nobody, or may not publish.
  func rounds(of assets: Assets, _ publisher: Publisher, log: Log) throws -> [Rounds] {
    guard let sender = publishAs else {
      return [Rounds(Reconciliation(assets: assets, publisher: nil), log: log)]
    }
    let role = try assets.store.user(named: sender)?.role ?? .device
    guard isDemo || role != .device else {
      throw ConfigurationError(
        "--publish-as \(sender): there is no such publisher; "
          + "make one with richpush user add \(sender) --role publisher")
    }
    var outbox = assets
    outbox.folder = DropFolder(
      path: assets.folder.path + "/" + DropFolder.outbox, mask: mask)
    // There from the start, so that people find it, and it is watched.
    outbox.folder.makeRoot()
    return [
      Rounds(
        Reconciliation(
          assets: assets,
          publisher: DropPublisher(
            assets, publisher, sender: sender, isDemo: isDemo, isOutbox: false)),
        log: log),
      Rounds(
        OutboxFolder(
          publisher: DropPublisher(
            outbox, publisher, sender: sender, isDemo: isDemo, isOutbox: true)),
        log: log),
    ]
  }
}
