import Delivery
import FoundationEssentials
import Media
import Store
import Primitives

/// Removes expired data and checks readiness periodically, and applies changes by commands when they notify the server.
struct Housekeeping: Sendable {
  let store: Store
  let retention: Retention
  let authenticator: Authenticator
  let streams: [EventStreams]
  let bodies: OpenBodies
  let links: MediaLinks
  let signed: SignedMediaRoutes
  let lanes: PushLanes
  let readiness: Readiness
  let disks: DiskMonitor
  let clock: ClockMonitor
  /// Nil if people sign in with passwords only.
  let provider: ProviderMonitor?
  let counts: RenditionCounts
  let certificate: CertificateMonitor
  /// Nil without TLS.
  let renewal: CertificateRenewal?
  /// Nil without TLS.
  let tickets: SessionTickets?
  let log: Log
  private static let collectionInterval = Duration.seconds(900)
  private static let prefixesAtOnce = 16
  // A whole folder can be dropped at once, so the limit of renditions is enforced within seconds.
  private static let renditionInterval = Duration.seconds(5)

  /// Runs until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await readiness.run() }
      group.addTask { await disks.run() }
      group.addTask { await clock.run() }
      if let provider { group.addTask { await provider.run() } }
      group.addTask { await repeating(every: Self.collectionInterval) { certificate.check() } }
      if let renewal {
        group.addTask {
          await repeating(every: CertificateRenewal.interval) { await renewal.look() }
        }
      }
      if let tickets {
        group.addTask {
          await repeating(every: Self.collectionInterval) { await tickets.updateOrLog() }
        }
      }
      group.addTask { await repeating(every: Self.collectionInterval, collect) }
      group.addTask { await repeating(every: Self.renditionInterval, collectRenditions) }
      group.addTask { await continueErasures() }
      if store.objects != nil {
        group.addTask { await repeating(every: Self.renditionInterval, trimBlobs) }
        group.addTask { await collectObjects() }
      }
    }
  }

  /// Applies changes by other processes: ends the uploads and streams of users who were removed or have a new
  /// password, signs with new keys, invalidates the links of removed ones, reads the keys of session tickets, and looks
  /// for pushes that are due again.
  func reload() async throws {
    authenticator.invalidate(nil)
    await bodies.endInvalid()
    for streams in streams { await streams.closeInvalid() }
    if try await links.reload() { signed.resolved.changes.record(nil) }
    try await tickets?.update()
    lanes.wake()
  }

  /// Forgets what was read before, and looks for all that others may have committed; `changes` are those of
  /// notifications.
  func assumeEverythingChanged(_ changes: ChangeClock) {
    authenticator.invalidate(nil)
    changes.record(nil)
    signed.resolved.changes.record(nil)
    for streams in streams { streams.notify() }
    store.observers.onCommit(())
    Task {
      do { try await reload() } catch {
        log(.warning, "store", "changes of other nodes are not applied: \(error.logDescription)")
      }
    }
  }

  private func repeating(every interval: Duration, _ work: () async -> Void) async {
    while !Task.isCancelled {
      await work()
      try? await Task.sleep(for: interval)
    }
  }

  /// Removes what is left of users who were erased: the records on the node with the lead, the content on each.
  // Asked for, not told by an effect: what an erasure waits for, such as a backup, the object store or another node with
  // the lead, ends without one.
  private func continueErasures() async {
    var (logged, isHindered): ([String], Bool) = ([], false)
    while !Task.isCancelled {
      var notes: [String] = []
      do {
        let report = try await store.continueErasures(removesRecords: store.observers.lead.isHeld)
        for user in report.erased { log(.notice, "store", "erased user \(user.rawValue)") }
        notes = report.notes
        // Its words may differ each time.
        if let obstacle = report.obstacle, !isHindered {
          log(.warning, "store", "erasure: \(obstacle)")
        }
        isHindered = report.obstacle != nil
      } catch { notes = ["to be continued: \(error.logDescription)"] }
      // What stays as it is, is said once.
      for note in notes where !logged.contains(note) { log(.warning, "store", "erasure: \(note)") }
      logged = notes
      try? await Task.sleep(for: Self.renditionInterval)
    }
  }

  private func collectRenditions() async {
    guard store.renditions.size > retention.renditionBytes ?? .max else { return }
    counts.count(.evicted, await store.collectRenditions(retention).count)
  }

  /// Works through the whole object store at the start, which uploads what it should have, and then in four
  /// hours each time.
  private func collectObjects() async {
    var rest: ArraySlice<String> = Store.objectPrefixes[...]
    var count = rest.count
    while !Task.isCancelled {
      do {
        let report = try await store.collectObjects(
          retention, prefixes: rest.prefix(count), removes: store.observers.lead.isHeld)
        rest = rest.dropFirst(count)
        if rest.isEmpty { rest = Store.objectPrefixes[...] }
        count = Self.prefixesAtOnce
        log(report, of: store)
      } catch { log(.error, "objects", "clean-up failed: \(error.logDescription)") }
      try? await Task.sleep(for: Self.collectionInterval)
    }
  }

  private func log(_ report: ObjectUpkeepReport, of store: Store) {
    if let stranger = report.stranger {
      log(
        .warning, "objects",
        "another data folder uses this bucket (\(stranger)), so that nothing is removed from it; "
          + "if there is none, remove that object")
    }
    guard report.blobs + report.renditions + report.uploaded > 0 else { return }
    log(
      .info, "objects",
      """
      removed \(report.blobs) blobs (\(report.blobBytes) bytes) and \(report.renditions) \
      renditions, uploaded \(report.uploaded) blobs
      """)
  }

  private func trimBlobs() async {
    // While the object store is away nothing is removed; the log has that already.
    _ = try? await store.trimBlobs(retention)
  }

  private func collect() async {
    do {
      let removed = try await store.collect(retention)
      counts.count(.evicted, removed.renditions)
      guard removed.notifications + removed.blobs + removed.renditions > 0 else { return }
      log(
        .info, "store",
        """
        removed \(removed.notifications) expired notifications, \(removed.blobs) blobs \
        (\(removed.blobBytes) bytes), \(removed.renditions) renditions \
        (\(removed.renditionBytes) bytes)
        """)
    } catch { log(.error, "store", "clean-up failed: \(error.logDescription)") }
  }
}
