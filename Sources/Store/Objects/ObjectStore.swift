import Primitives
import S3
import Synchronization

/// The object store that has the content of all nodes.
///
/// Counts the requests. After one that failed because the store is away, it is probed every second until it
/// responds; meanwhile all others fail at once, so that no caller waits for a deadline that will pass.
package final class ObjectStore: Sendable {
  /// The kinds of requests.
  package enum Operation: String, CaseIterable, Sendable {
    case get, put, head, delete, list
  }

  private struct State {
    var counts: [Operation: ObjectCounts.Requests] = [:]
    var cache = ObjectCounts.Cache()
    /// Why it is away; nil while it is not.
    var absence: StoreError?
    var isProbing = false
    var lastSuccess: ContinuousClock.Instant?
    var lastReport: ContinuousClock.Instant?
  }

  /// The URL, without secrets.
  package let url: String
  /// Called with the reason when the object store is away, and with nil when it is back.
  package let onAbsence = Observers<StoreError?>()
  /// Called with the reason of another failure, at most once in ten seconds.
  package let onFailure = Observers<StoreError>()
  /// How long a request without content may take.
  let deadline: Duration
  let clock: any SteadyClock
  private let client: S3Client
  private let state = Mutex(State())
  private let probes = SharedWork<Int, Result<Void, StoreError>>()

  /// A success proves for so long that it is there.
  private static let trust = Duration.seconds(5)
  private static let probeInterval = Duration.seconds(1)
  private static let reportInterval = Duration.seconds(10)

  init(_ configuration: ObjectStoreConfiguration) {
    (url, deadline) = (configuration.url, configuration.deadline)
    clock = configuration.clock
    client = S3Client(
      configuration.bucket, configuration.credentials, deadline: deadline,
      authority: configuration.authority, clock: clock)
  }

  /// Writes an object to an empty file; false if there is none.
  ///
  /// About `size` bytes are expected; more than `limit` throw `damaged`.
  func get(
    _ key: String, to file: FileDescriptor, size: Int, limit: Int
  ) async throws(StoreError) -> Bool {
    try await perform(.get) { () async throws(S3Error) in
      try await client.get(key, to: file, size: size, limit: limit)
    }
  }

  /// Stores a file with this SHA-256.
  func put(
    _ key: String, file: FileDescriptor, size: Int, digest: Digest
  ) async throws(StoreError) {
    try await perform(.put) { () async throws(S3Error) in
      try await client.put(key, file: file, size: size, sha256: digest.hex)
    }
  }

  /// Stores a few bytes.
  func put(_ key: String, bytes: [UInt8]) async throws(StoreError) {
    try await perform(.put) { () async throws(S3Error) in
      try await client.put(key, bytes: bytes)
    }
  }

  /// Size and time of an object, or nil if there is none.
  func head(_ key: String) async throws(StoreError) -> S3Object? {
    try await perform(.head) { () async throws(S3Error) in try await client.head(key) }
  }

  /// Removes an object, if there is one.
  func delete(_ key: String) async throws(StoreError) {
    try await perform(.delete) { () async throws(S3Error) in try await client.delete(key) }
  }

  /// All objects whose keys begin with a prefix.
  func list(_ prefix: String) async throws(StoreError) -> [S3Object] {
    try await perform(.list) { () async throws(S3Error) in try await client.list(prefix) }
  }

  private func perform<R: Sendable>(
    _ operation: Operation, _ body: () async throws(S3Error) -> R
  ) async throws(StoreError) -> R {
    if let absence = state.withLock({ $0.absence }) {
      state.withLock { $0.counts[operation, default: .init()].skipped += 1 }
      throw absence
    }
    do throws(S3Error) {
      let result = try await body()
      state.withLock { state in
        state.counts[operation, default: .init()].succeeded += 1
        state.lastSuccess = clock.now
      }
      return result
    } catch {
      state.withLock { $0.counts[operation, default: .init()].failed += 1 }
      if error.code == .away { startProbing() } else { report(StoreError(error)) }
      throw StoreError(error)
    }
  }

  private func report(_ error: StoreError) {
    let isDue = state.withLock { state in
      if let last = state.lastReport, clock.now - last < Self.reportInterval { return false }
      state.lastReport = clock.now
      return true
    }
    if isDue { onFailure(error) }
  }
}

// MARK: - Whether it is there

extension ObjectStore {
  /// Returns if the object store can be used, as of the last five seconds.
  package func probe() async throws(StoreError) {
    let (absence, lastSuccess) = state.withLock { ($0.absence, $0.lastSuccess) }
    if let absence { throw absence }
    if let lastSuccess, clock.now - lastSuccess < Self.trust { return }
    try await probes.run(0) { [self] () async throws(StoreError) in
      try await perform(.list) { () async throws(S3Error) in try await client.probe() }
    }
  }

  /// Returns if it can be used, or is away: then it is expected back.
  ///
  /// - Throws: `failed` if it refuses the key, or has no such bucket.
  package func checkConfiguration() async throws(StoreError) {
    do throws(S3Error) { try await client.probe() } catch {
      guard error.code == .away else { throw StoreError(.failed, error.reason) }
      startProbing()
    }
  }

  private func startProbing() {
    let mustStart = state.withLock { state in
      defer { state.isProbing = true }
      return !state.isProbing
    }
    guard mustStart else { return }
    Task.detached { [weak self, clock] in
      while await self?.isStillAway() == true { try? await clock.sleep(for: Self.probeInterval) }
    }
  }

  private func isStillAway() async -> Bool {
    var absence: StoreError?
    do throws(S3Error) { try await client.probe() } catch {
      // One that refuses requests has answered.
      if error.code == .away { absence = StoreError(error) }
    }
    let isChanged = state.withLock { state in
      defer { (state.absence, state.isProbing) = (absence, absence != nil) }
      return (state.absence == nil) != (absence == nil)
    }
    if isChanged { onAbsence(absence) }
    return absence != nil
  }
}

// MARK: - Counts

/// What was asked of the object store, and what its cache did.
package struct ObjectCounts: Sendable {
  /// Requests of one kind; skipped ones were not sent, because the store is away.
  package struct Requests: Sendable {
    package var succeeded = 0
    package var failed = 0
    package var skipped = 0

    /// None.
    package init() {}
  }

  /// What was found in the data folder, and what was not.
  package struct Cache: Sendable {
    package var blobHits = 0
    package var blobMisses = 0
    package var renditionHits = 0
    package var renditionMisses = 0
    /// Objects that are not what was stored.
    package var damaged = 0
    /// Renditions that were not uploaded.
    package var dropped = 0
  }

  /// The requests by kind.
  package let requests: [ObjectStore.Operation: Requests]
  /// The cache in front of the object store.
  package let cache: Cache
  /// Whether the object store is away.
  package let isAway: Bool
}

extension ObjectStore {
  /// The counts since the start.
  package var counts: ObjectCounts {
    state.withLock {
      ObjectCounts(requests: $0.counts, cache: $0.cache, isAway: $0.absence != nil)
    }
  }

  func count(_ member: any WritableKeyPath<ObjectCounts.Cache, Int> & Sendable) {
    state.withLock { $0.cache[keyPath: member] += 1 }
  }
}

extension StoreError {
  fileprivate init(_ error: S3Error) {
    switch error.code {
    case .noSuchKey: self.init(.missing, error.reason)
    case .damaged: self.init(.damaged, error.reason)
    case .file(let number): self.init(StoreError(errno: number, "use", "").code, error.reason)
    case .invalid, .away, .refused, .noSuchBucket, .failed: self.init(.away, error.reason)
    }
  }
}
