import HTTP
import Synchronization

/// Counts responses, for `/metrics`.
final class RequestMetrics: Sendable {
  private let counters = Mutex<[String: RouteCounter]>([:])

  /// The counter of a route, by its name.
  func counter(of route: String) -> RouteCounter {
    counters.withLock { counters in
      if let known = counters[route] { return known }
      let new = RouteCounter(route)
      counters[route] = new
      return new
    }
  }

  /// Counts a response; called on an event loop's thread.
  func count(_ record: AccessRecord) {
    counter(of: record.route).count(
      record.method, record.status, bytes: record.bytes, nanoseconds: record.nanoseconds)
  }

  /// The counts by route.
  var routes: [(name: String, counts: RouteCounter.Counts)] {
    counters.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value.counts) }
  }
}

/// Counts the responses of one route.
final class RouteCounter: Sendable {
  /// The method and the status of a response.
  struct Kind: Equatable, Sendable {
    let method: String
    let status: Int
  }

  struct Counts: Sendable {
    /// An array, since a linear search is fastest for so few kinds.
    var responses: [(kind: Kind, count: Int)] = []
    var bytes = 0
    /// By duration: at most the bound at the same index, and more than the previous one.
    var buckets = [Int](repeating: 0, count: RouteCounter.bounds.count + 1)
    var nanoseconds = 0

    fileprivate mutating func add(_ kind: Kind, bytes: Int, nanoseconds: Int) {
      if let known = responses.firstIndex(where: { $0.kind == kind }) {
        responses[known].count += 1
      } else {
        responses.append((kind, 1))
      }
      self.bytes += bytes
      self.nanoseconds += nanoseconds
      let bounds = RouteCounter.bounds
      buckets[bounds.firstIndex { nanoseconds <= $0 } ?? bounds.count] += 1
    }
  }

  /// The upper bounds of the histogram of durations, in nanoseconds.
  static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10].map { Int($0 * 1e9) }

  let route: String
  private let state = Mutex(Counts())

  /// A counter of zero responses.
  init(_ route: String) { self.route = route }

  /// Counts a response.
  func count(_ method: String, _ status: Int, bytes: Int, nanoseconds: Int) {
    let kind = Kind(method: method, status: status)
    state.withLock { $0.add(kind, bytes: bytes, nanoseconds: nanoseconds) }
  }

  /// The present counts.
  var counts: Counts { state.withLock { $0 } }
}
