package import Media
import Primitives
import RichPushAPI
package import Store
import Synchronization

/// Makes the renditions of new assets in the background, one asset at a time.
///
/// The store knows which assets are not prepared yet, so a server that was killed continues where it was.
package final class Preparer: Sendable {
  private let store: Store
  private let renderer: Renderer
  private let validator: PayloadValidator
  private let log: Log
  private let signal = WakeSignal()
  private let work = Mutex<Task<Void, Never>?>(nil)
  private let failures = Mutex<[String: Failure]>([:])

  private struct Failure {
    var count = 0
    var due = ContinuousClock.now
  }

  /// After so many failures on a file the plugin is not called again until the file or the plugin changes.
  private static let maximumAttempts = 4

  /// Creates a preparer that has not started.
  package init(store: Store, renderer: Renderer, validator: PayloadValidator, log: Log) {
    (self.store, self.renderer, self.validator, self.log) = (store, renderer, validator, log)
    signal.send()
  }

  /// Starts, with the assets that an earlier server left.
  package func start() {
    work.withLock { work in
      work = Task.detached(priority: .background) {
        while !Task.isCancelled {
          await self.signal.wait()
          while !Task.isCancelled, let asset = self.next() { await self.prepare(asset) }
        }
      }
    }
  }

  /// Stops; a rendition that is being made is kept.
  package func stop() { work.withLock { $0 }?.cancel() }

  /// Looks for unprepared assets.
  package func notify() { signal.send() }

  private func next() -> AssetRecord? {
    let assets = (try? store.preparingAssets(limit: 100)) ?? []
    return failures.withLock { failures in
      assets.first { (failures[$0.stamp]?.due ?? .now) <= .now }
    }
  }

  private func prepare(_ asset: AssetRecord) async {
    var asset = asset
    do throws(ServiceError) {
      asset.reason = try await advice(on: asset)
      asset.state = .ready
    } catch {
      if !error.code.isPermanent, postpone(asset, after: error) { return }
      (asset.state, asset.reason, asset.blob) = (.refused, error.reason, nil)
    }
    failures.withLock { $0[asset.stamp] = nil }
    do {
      if try await store.finishPreparing(asset, event: asset.event) { log(asset.logLine) }
    } catch {
      _ = postpone(asset, after: ServiceError(any: error))
    }
  }

  /// Makes the renditions; returns what the asset's author should know.
  private func advice(on asset: AssetRecord) async throws(ServiceError) -> String? {
    let preparation = try Preparation(asset, in: store, validator)
    return try await preparation.advice { request async throws(ServiceError) in
      guard !Task.isCancelled else { throw ServiceError(.unavailable, "The server stops.") }
      return DeviceRendition(try await renderer.renditionInBackground(request))
    }
  }

  /// Postpones the asset; false after too many failures.
  private func postpone(_ asset: AssetRecord, after error: ServiceError) -> Bool {
    if Task.isCancelled { return true }
    let pause = Duration.seconds(error.retryAfter ?? 1)
    let count = failures.withLock { failures in
      // That a plugin is busy says nothing about the file.
      let isFailure = ![.busy, .unavailable].contains(error.code)
      failures[asset.stamp, default: Failure()].count += isFailure ? 1 : 0
      failures[asset.stamp]?.due = .now + pause
      return failures[asset.stamp]?.count ?? 0
    }
    Task.detached {
      try? await Task.sleep(for: pause)
      self.signal.send()
    }
    return count < Self.maximumAttempts
  }
}
