import Synchronization

/// Carries requests over few, long-lived connections: over HTTP/2 many at once on each, or over
/// HTTP/1.1 one after the other.
///
/// One thread runs libcurl's multi interface; it ends when the loop is released.
final class TransferLoop: Sendable {
  private let engine: TransferEngine

  /// A loop with so many connections to each host, that gives up on a request after `patience`.
  ///
  /// It trusts the system's certificates and those in the PEM file `trustAnchor`.
  init(
    trustAnchor: String?, connections: Int, isMultiplexing: Bool = false, patience: Duration
  ) throws(PushError) {
    engine = try TransferEngine(
      trustAnchor: trustAnchor, connections: connections, isMultiplexing: isMultiplexing,
      patience: patience)
    try engine.launch()
  }

  deinit { engine.stop() }

  /// Sends a request; cancelling the task abandons it.
  func send(_ request: TransferRequest) async throws(TransferFailure) -> TransferResponse {
    let answer = Once()
    await send([request]) { _, result in answer.value.withLock { $0 = result } }
    return try answer.value.withLock { $0 }.get()
  }

  /// Sends requests at once and returns after the last answer; cancelling the task abandons them.
  ///
  /// `then` hears each answer, with the request's place, on the loop's thread, so it must be quick.
  func send(
    _ requests: [TransferRequest], then: @escaping @Sendable (Int, Transfer.Answer) -> Void
  ) async {
    guard !requests.isEmpty else { return }
    let started = Mutex<[Transfer]>([])
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let batch = Transfer.Batch(of: requests.count, then: then) { continuation.resume() }
        let transfers = requests.enumerated().map { Transfer($1, at: $0, in: batch) }
        started.withLock { $0 = transfers }
        engine.start(transfers)
        if Task.isCancelled { engine.abandon(transfers) }
      }
    } onCancel: {
      engine.abandon(started.withLock { $0 })
    }
  }

  /// Gives new requests new connections; those under way finish where they are.
  func reconnect() { engine.reconnect() }

  private final class Once: Sendable {
    let value = Mutex(
      Transfer.Answer.failure(TransferFailure(reason: "no answer", isSilence: false)))
  }
}
