package import Media
package import PluginHost
package import Primitives
package import RichPushAPI
package import Store
import Synchronization

/// Makes the renditions of new assets in the background, one asset at a time.
///
/// The store has the list of unprepared assets, so work continues after the server was killed.
package final class Preparer: Sendable {
  private let assets: AssetIntake
  private let renderer: Renderer
  private let clock: any SteadyClock
  private let signal = WakeSignal()
  private let work = Mutex<Task<Void, Never>?>(nil)
  private let failures = Mutex<[String: Failure]>([:])

  private struct Failure {
    var count = 0
    var due: ContinuousClock.Instant
  }

  /// After this number of failures the plugin is not called again until the file or the plugin changes.
  private static let maximumAttempts = 4

  /// Creates a preparer that has not started.
  package init(
    _ assets: AssetIntake, _ renderer: Renderer, clock: any SteadyClock = ContinuousClock()
  ) {
    (self.assets, self.renderer, self.clock) = (assets, renderer, clock)
    signal.send()
  }

  /// Starts, with the assets that an earlier server left.
  package func start() {
    work.withLock { work in
      work = Task.detached(priority: .background) {
        while !Task.isCancelled {
          await self.signal.wait()
          while !Task.isCancelled, let asset = await self.next() { await self.prepare(asset) }
        }
      }
    }
  }

  /// Stops after the current rendition.
  package func stop() { work.withLock { $0 }?.cancel() }

  /// Looks for unprepared assets.
  package func notify() { signal.send() }

  private func next() async -> AssetRecord? {
    // One more than have failed, so that these do not keep the others waiting.
    let limit = failures.withLock { $0.count } + 1
    let preparing = (try? await assets.store.assets.preparingAssets(limit: limit)) ?? []
    let now = clock.now
    return failures.withLock { failures in
      preparing.first { (failures[$0.stamp]?.due ?? now) <= now }
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
      if try await assets.store.assets.finishPreparing(asset, event: asset.event) {
        assets.log(.info, "assets", asset.logLine)
      }
    } catch {
      _ = postpone(asset, after: ServiceError(any: error))
    }
  }

  /// Makes the renditions; returns advice for the asset's author.
  private func advice(on asset: AssetRecord) async throws(ServiceError) -> String? {
    let preparation = try Preparation(asset, in: assets.store, assets.validator)
    return try await preparation.advice { request async throws(ServiceError) in
      guard !Task.isCancelled else { throw ServiceError(.unavailable, "The server is stopping.") }
      return DeviceRendition(try await renderer.renditionInBackground(request))
    }
  }

  /// Postpones the asset; false after too many failures.
  private func postpone(_ asset: AssetRecord, after error: ServiceError) -> Bool {
    if Task.isCancelled { return true }
    let pause = Duration.seconds(error.retryAfter ?? 1)
    let due = clock.now + pause
    let count = failures.withLock { failures in
      // A busy plugin is not a failure on the file.
      let isFailure = ![.busy, .unavailable].contains(error.code)
      let count = (failures[asset.stamp]?.count ?? 0) + (isFailure ? 1 : 0)
      failures[asset.stamp] = Failure(count: count, due: due)
      return count
    }
    Task.detached {
      try? await self.clock.sleep(until: due, tolerance: nil)
      self.signal.send()
    }
    return count < Self.maximumAttempts
  }
}

/// The renditions of an asset that are made before a device requests them: of the original without
/// metadata, and of every profile.
package struct Preparation: Sendable {
  /// The asset's content.
  package let source: RenditionSource
  /// The plugin that renders it.
  package let plugin: Plugin
  /// Whether it is animated, according to its plugin.
  private let isAnimated: Bool

  /// Makes all renditions; returns advice for the asset's author.
  ///
  /// - Throws: why no device can show the asset, or why the plugin failed.
  func advice(
    render: (RenditionRequest) async throws(ServiceError) -> DeviceRendition
  ) async throws(ServiceError) -> String? {
    guard plugin.manifest.isShared else { return nil }
    let cleaned = try await render(request(.none))
    guard cleaned.isKept else { return nil }
    var advice = DeviceAdvice(
      original: source.pinned?.size ?? 0, animation: isAnimated ? cleaned : nil)
    var rejection: ServiceError?
    for profile in Profile.all {
      do throws(ServiceError) {
        advice.add(try await render(request(RenditionOptions(profile))), for: profile)
      } catch {
        guard error.code == .rejected else { throw error }
        advice.addMissing(profile, error.reason)
        rejection = error
      }
    }
    if let rejection, advice.isEmpty { throw rejection }
    return advice.text
  }

  /// How many renditions are made.
  package func progress(in store: Store) -> Asset.Progress {
    let requests = [request(.none)] + Profile.all.map { request(RenditionOptions($0)) }
    return Asset.Progress(
      made: requests.count { store.renditions.rendition($0.key) != nil }, total: requests.count)
  }

  /// The renditions to be made of an asset.
  ///
  /// - Throws: `rejected` if its plugin or its content is missing.
  package init(_ asset: AssetRecord, in store: Store, _ validator: PayloadValidator)
    throws(ServiceError)
  {
    plugin = try validator.plugin(asset.richType)
    isAnimated = asset.facts["animated"] == .bool(true)
    guard let digest = asset.blob, let type = asset.type else {
      throw ServiceError(.rejected, "Its content is missing. Drop the file again.")
    }
    source = RenditionSource(
      richType: asset.richType, message: "", payload: asset.name,
      pinned: PinnedAsset(Blob(digest: digest, size: asset.bytes), type: type, in: store),
      focus: asset.focus)
  }

  private func request(_ options: RenditionOptions) -> RenditionRequest {
    RenditionRequest(source: source, options: options, plugin: plugin)
  }
}
