import HTTP
import Push
import Synchronization

/// What `/metrics` says, in Prometheus' text format (version 0.0.4).
final class Metrics: Sendable {
  private struct Counts {
    var answers: [Int: Int] = [:]
    var bytes = 0
    var buckets = [Int](repeating: 0, count: Metrics.bounds.count + 1)
    var seconds = 0.0
  }

  /// The upper bounds of the histogram of answers, in seconds.
  private static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

  private let counts = Mutex(Counts())

  /// Counts an answer.
  func count(_ exchange: HTTP.Exchange) {
    let seconds = exchange.duration / .seconds(1)
    let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    counts.withLock { counts in
      counts.answers[exchange.status, default: 0] += 1
      counts.bytes += exchange.bytes
      counts.buckets[bucket] += 1
      counts.seconds += seconds
    }
  }

  /// The whole page.
  func text(connections: Int, streams: Int, lanes: [(name: String, status: LaneStatus)]) -> String {
    var page = Page()
    let counts = counts.withLock { $0 }
    page.family("richpush_http_responses_total", "counter", "Answers by status.")
    for (status, count) in counts.answers.sorted(by: { $0.key < $1.key }) {
      page.sample("richpush_http_responses_total{status=\"\(status)\"}", count)
    }
    page.family("richpush_http_response_bytes_total", "counter", "Bytes of answers' bodies.")
    page.sample("richpush_http_response_bytes_total", counts.bytes)
    let name = "richpush_http_response_seconds"
    page.family(name, "histogram", "From the end of a request's head to the end of its answer.")
    var sum = 0
    for (bound, count) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], counts.buckets) {
      sum += count
      page.sample("\(name)_bucket{le=\"\(bound)\"}", sum)
    }
    page.sample("\(name)_sum", counts.seconds)
    page.sample("\(name)_count", sum)
    page.family("richpush_http_connections", "gauge", "Connections that are open.")
    page.sample("richpush_http_connections", connections)
    page.family("richpush_push_streams", "gauge", "Devices that listen on the embedded gateway.")
    page.sample("richpush_push_streams", streams)
    page.family("richpush_pushes_total", "counter", "Pushes by lane and outcome.")
    for (lane, status) in lanes {
      for (outcome, count) in [
        ("delivered", status.delivered), ("failed", status.failed), ("retried", status.retried),
      ] {
        page.sample("richpush_pushes_total{lane=\"\(lane)\",outcome=\"\(outcome)\"}", count)
      }
    }
    page.family("richpush_push_lane_paused", "gauge", "1 while a push service is out of order.")
    for (lane, status) in lanes {
      page.sample(
        "richpush_push_lane_paused{lane=\"\(lane)\"}", status.pausedUntil == nil ? 0 : 1)
    }
    return page.text
  }

  private struct Page {
    var text = ""

    mutating func family(_ name: String, _ type: String, _ help: String) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    mutating func sample(_ name: String, _ value: some Numeric) {
      text += "\(name) \(value)\n"
    }
  }
}
