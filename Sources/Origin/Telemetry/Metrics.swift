import HTTP
import Synchronization

/// Counts answers, for `/metrics`.
final class RequestMetrics: Sendable {
  /// The answers of one route.
  struct Route: Sendable {
    /// By method and status: few, so that looking through them costs least.
    var answers: [(answer: Answer, count: Int)] = []
    var bytes = 0
    /// As many as took no longer than the bound at the same place, and longer than the one before.
    var buckets = [Int](repeating: 0, count: RequestMetrics.bounds.count + 1)
    var seconds = 0.0

    fileprivate mutating func add(_ answer: Answer, _ size: Int, _ bucket: Int, _ time: Double) {
      if let known = answers.firstIndex(where: { $0.answer == answer }) {
        answers[known].count += 1
      } else {
        answers.append((answer, 1))
      }
      bytes += size
      buckets[bucket] += 1
      seconds += time
    }
  }

  struct Answer: Equatable, Sendable {
    let method: String
    let status: Int
  }

  /// The upper bounds of the histograms of answers, in seconds.
  static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

  private let counts = Mutex<[String: Route]>([:])

  /// Counts an answer; called on an HTTP thread.
  func count(_ exchange: AccessRecord) {
    let seconds = exchange.seconds
    let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    let answer = Answer(method: exchange.method, status: exchange.status)
    counts.withLock { counts in
      counts[exchange.route, default: Route()].add(answer, exchange.bytes, bucket, seconds)
    }
  }

  /// What was counted, by route.
  var routes: [(name: String, counts: Route)] {
    counts.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
