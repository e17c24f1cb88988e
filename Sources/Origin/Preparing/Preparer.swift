import Store
import Synchronization

/// Makes the renditions of new assets in the background, one asset at a time.
///
/// The store says what is left to do, so a server that was killed goes on where it was; what another
/// asset of the same content brought about is there already.
final class Preparer: Sendable {
  private let store: Store
  private let renderer: Renderer
  private let validation: Validation
  private let log: Log
  private let news: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation
  private let work = Mutex<Task<Void, Never>?>(nil)
  private let failures = Mutex<[String: Failure]>([:])

  private struct Failure {
    var count = 0
    var due = ContinuousClock.now
  }

  /// A plugin that fails on a file this often is not asked again until the file or it changes.
  private static let patience = 4

  init(store: Store, renderer: Renderer, validation: Validation, log: Log) {
    (self.store, self.renderer, self.validation, self.log) = (store, renderer, validation, log)
    (news, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    wake.yield()
  }

  /// Begins with what an earlier server left.
  func start() {
    work.withLock { work in
      work = Task.detached(priority: .background) {
        for await _ in self.news {
          while !Task.isCancelled, let asset = self.next() { await self.prepare(asset) }
        }
      }
    }
  }

  /// Ends the work; a rendition that is being made is kept.
  func stop() { work.withLock { $0 }?.cancel() }

  /// There may be something to do.
  func hurry() { wake.yield() }

  private func next() -> Asset? {
    let assets = (try? store.preparingAssets(limit: 100)) ?? []
    return failures.withLock { failures in
      assets.first { (failures[$0.stamp]?.due ?? .now) <= .now }
    }
  }

  private func prepare(_ asset: Asset) async {
    var asset = asset
    do throws(Refusal) {
      asset.reason = try await advice(on: asset)
      asset.state = .ready
    } catch {
      if error.status >= 500, postpone(asset, after: error) { return }
      (asset.state, asset.reason, asset.blob) = (.refused, error.sentence, nil)
    }
    failures.withLock { $0[asset.stamp] = nil }
    do {
      if try await store.settleAsset(asset, event: asset.event) { log(asset.logLine) }
    } catch {
      _ = postpone(asset, after: Refusal(any: error))
    }
  }

  /// What the asset's author should know once all is made.
  private func advice(on asset: Asset) async throws(Refusal) -> String? {
    let preparation = try Preparation(asset, in: store, validation)
    return try await preparation.advice { wish async throws(Refusal) in
      guard !Task.isCancelled else { throw Refusal(503, "The server stops.") }
      return Served(try await renderer.renderedInBackground(wish))
    }
  }

  /// Puts the asset off for a while; false when that has gone on for too long.
  private func postpone(_ asset: Asset, after error: Refusal) -> Bool {
    if Task.isCancelled { return true }
    let pause = Duration.seconds(error.retryAfter ?? 1)
    let count = failures.withLock { failures in
      // A plugin that is busy says nothing of the file.
      failures[asset.stamp, default: Failure()].count += error.status == 503 ? 0 : 1
      failures[asset.stamp]?.due = .now + pause
      return failures[asset.stamp]?.count ?? 0
    }
    Task.detached {
      try? await Task.sleep(for: pause)
      self.wake.yield()
    }
    return count < Self.patience
  }
}
