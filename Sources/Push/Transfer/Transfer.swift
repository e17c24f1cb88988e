import Synchronization

/// One request on its way, and who waits for its answer.
///
/// Unchecked: after its start only the thread of its engine touches it.
final class Transfer: @unchecked Sendable {
  typealias Answer = Result<TransferResponse, TransferFailure>

  /// Requests that were sent together.
  final class Batch: Sendable {
    private let left: Atomic<Int>
    private let then: @Sendable (Int, Answer) -> Void
    private let end: @Sendable () -> Void

    /// `then` hears each answer with its request's place, and `end` comes after the last of them.
    init(
      of count: Int, then: @escaping @Sendable (Int, Answer) -> Void,
      end: @escaping @Sendable () -> Void
    ) {
      left = Atomic(count)
      self.then = then
      self.end = end
    }

    fileprivate func take(_ answer: Answer, of place: Int) {
      then(place, answer)
      if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { end() }
    }
  }

  let request: TransferRequest
  private let place: Int
  private let batch: Batch

  /// What carries it, while it is under way.
  var carrier: Carrier?
  /// Whether its sender was told.
  private(set) var isFinished = false

  init(_ request: TransferRequest, at place: Int, in batch: Batch) {
    self.request = request
    self.place = place
    self.batch = batch
  }

  /// Tells the sender, once.
  func finish(_ answer: Answer) {
    guard !isFinished else { return }
    isFinished = true
    batch.take(answer, of: place)
  }

  /// Tells the sender that there will be no answer.
  func fail(_ reason: String) {
    finish(.failure(TransferFailure(reason: reason, isSilence: false)))
  }
}
