import Synchronization

/// Carries requests over few, long-lived connections: over HTTP/2 many at once on each, or over
/// HTTP/1.1 one after the other.
///
/// One thread runs libcurl's multi interface; it ends when the loop is released.
final class TransferLoop: Sendable {
  typealias Answer = Result<TransferResponse, TransferFailure>

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
    _ requests: [TransferRequest], then: @escaping @Sendable (Int, Answer) -> Void
  ) async {
    guard !requests.isEmpty else { return }
    let batch = Mutex<[Transfer]>([])
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let left = Countdown(from: requests.count) { continuation.resume() }
        let transfers = requests.enumerated().map { index, request in
          Transfer(request) { answer in
            then(index, answer)
            left.tick()
          }
        }
        batch.withLock { $0 = transfers }
        engine.start(transfers)
        if Task.isCancelled { engine.abandon(transfers) }
      }
    } onCancel: {
      engine.abandon(batch.withLock { $0 })
    }
  }

  /// Gives new requests new connections; those under way finish where they are.
  func reconnect() { engine.reconnect() }

  private final class Once: Sendable {
    let value = Mutex(Answer.failure(TransferFailure(reason: "no answer", isSilence: false)))
  }

  /// Does something at the last of so many ticks.
  private final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let end: @Sendable () -> Void

    init(from count: Int, end: @escaping @Sendable () -> Void) {
      left = Atomic(count)
      self.end = end
    }

    func tick() {
      if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { end() }
    }
  }
}
