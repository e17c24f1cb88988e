import HTTP
import Synchronization

/// Counts responses, for `/metrics`.
final class RequestMetrics: Sendable {
  /// The method and the status of a response.
  struct Kind: Equatable, Sendable {
    let method: String
    let status: Int
  }

  /// The responses of one route.
  struct RouteCounts: Sendable {
    /// An array, since a linear search is fastest for so few kinds.
    var responses: [(kind: Kind, count: Int)] = []
    var bytes = 0
    /// By duration: at most the bound at the same index, and more than the previous one.
    var buckets = [Int](repeating: 0, count: RequestMetrics.bounds.count + 1)
    var seconds = 0.0

    fileprivate mutating func add(_ record: AccessRecord) {
      let (kind, time) = (Kind(method: record.method, status: record.status), record.seconds)
      if let known = responses.firstIndex(where: { $0.kind == kind }) {
        responses[known].count += 1
      } else {
        responses.append((kind, 1))
      }
      bytes += record.bytes
      seconds += time
      buckets[RequestMetrics.bounds.firstIndex { time <= $0 } ?? RequestMetrics.bounds.count] += 1
    }
  }

  /// The upper bounds of the histogram of durations, in seconds.
  static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

  private let counts = Mutex<[String: RouteCounts]>([:])

  /// Counts a response; called on an event loop's thread.
  func count(_ record: AccessRecord) {
    counts.withLock { $0[record.route, default: RouteCounts()].add(record) }
  }

  /// The counts by route.
  var routes: [(name: String, counts: RouteCounts)] {
    counts.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
