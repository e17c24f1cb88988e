import Synchronization

/// Carries requests over few, long-lived connections, many at once on each where HTTP/2 is spoken.
///
/// One thread runs libcurl's multi interface; it ends when the loop is released.
final class TransferLoop: Sendable {
  private let engine: TransferEngine

  /// A loop with so many connections to each host, that gives up on a request after `patience`.
  ///
  /// It trusts the system's certificates and those in the PEM file `trustAnchor`.
  init(
    trustAnchor: String?, connections: Int, patience: Duration
  ) throws(PushError) {
    engine = try TransferEngine(
      trustAnchor: trustAnchor, connections: connections, patience: patience)
    try engine.launch()
  }

  deinit { engine.stop() }

  /// Sends a request; cancelling the task abandons it.
  func send(_ request: TransferRequest) async throws(TransferFailure) -> TransferResponse {
    let ticket = Mutex<Transfer?>(nil)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let transfer = Transfer(request) { continuation.resume(returning: $0) }
        ticket.withLock { $0 = transfer }
        engine.start(transfer)
        if Task.isCancelled { engine.abandon(transfer) }
      }
    } onCancel: {
      if let transfer = ticket.withLock({ $0 }) { engine.abandon(transfer) }
    }
    return try result.get()
  }

  /// Gives new requests new connections; those under way finish where they are.
  func reconnect() { engine.reconnect() }
}
