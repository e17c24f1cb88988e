import Foundation
import Synchronization
import Testing

@testable import RichPushClient

/// When a client of an event stream comes back; no test waits for that.
@Suite(.timeLimit(.minutes(1))) struct RetryAfterTests {
  /// A client that only notes how long it would wait.
  private static func client(
    of server: StandIn, waits: WaitList
  ) -> RichPushClient {
    var client = RichPushClient(endpoint: server.endpoint, user: "alice", password: "word")
    client.wait = { waits.add($0) }
    return client
  }

  /// How long a client would have waited, in order.
  private final class WaitList: Sendable {
    private let waits = Mutex<[Duration]>([])
    var all: [Duration] { waits.withLock { $0 } }
    func add(_ wait: Duration) { waits.withLock { $0.append(wait) } }
  }

  private static let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

  /// A server that refuses the first connections in turn, and then sends an event.
  private static func server(refusing answers: [(status: Int, field: String)]) throws -> StandIn {
    let count = Atomic(0)
    return try StandIn { _, connection in
      let number = count.add(1, ordering: .relaxed).oldValue
      if number < answers.count {
        return connection.answer(answers[number].status, [answers[number].field])
      }
      connection.send(stream + "id: 1\ndata: a\n\n")
      connection.waitUntilClosed()
    }
  }

  @Test(arguments: [429, 503, 502])
  func `a stream comes back no sooner than the server has asked`(_ status: Int) async throws {
    let waits = WaitList()
    let server = try Self.server(refusing: [
      (status, "Retry-After: 3600"), (status, "Retry-After: 7"), (status, "X-Other: 1"),
    ])
    let client = Self.client(of: server, waits: waits)
    for events in [client.events(), client.publisherEvents()] {
      var iterator = events.makeAsyncIterator()
      #expect(try await iterator.next()?.text == "a")
    }
    try #require(waits.all.count == 3)
    #expect(waits.all[0] == .seconds(3600))
    #expect(waits.all[1] == .seconds(7))
    // Without it, twice as long each time, less up to half.
    #expect(waits.all[2] >= .seconds(2) && waits.all[2] <= .seconds(4))
  }

  @Test(
    arguments: [
      ("0", 0), ("60", 60), ("86400", 86_400), ("86401", 86_400), ("99999999999999999999", 86_400),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("inf", nil), ("nan", nil), ("-5", nil), ("1e300", nil), ("1.5", nil), ("soon", nil),
    ] as [(String, Double?)])
  func `nothing that a server sends makes a client wait for more than a day, or end`(
    _ text: String, expected: Double?
  ) async throws {
    let waits = WaitList()
    let server = try Self.server(refusing: [(503, "Retry-After: \(text)")])
    let client = Self.client(of: server, waits: waits)
    let error = await #expect(throws: RichPushError.self) { _ = try await client.details(1) }
    #expect(error?.retryAfter == expected)
    let again = try Self.server(refusing: [(503, "Retry-After: \(text)")])
    var events = Self.client(of: again, waits: waits).events().makeAsyncIterator()
    #expect(try await events.next()?.text == "a")
    #expect(waits.all.allSatisfy { $0 <= .seconds(86_400) } && waits.all.count == 1)
  }

  @Test func `a date says when, too`() async throws {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let server = try Self.server(refusing: [
      (503, "Retry-After: \(format.string(from: Date() + 3600))")
    ])
    let client = Self.client(of: server, waits: WaitList())
    let error = await #expect(throws: RichPushError.self) { _ = try await client.details(1) }
    let wait = try #require(error?.retryAfter)
    #expect(wait > 3000 && wait <= 3600)
  }

  @Test(arguments: ["0", "99999999999999999999999", "9223372036854775807", "86400001"])
  func `no delay that a stream names makes a client end, or wait for more than a day`(
    _ retry: String
  ) async throws {
    let waits = WaitList()
    let server = try StandIn { request, connection in
      let last = Int(request.fields["last-event-id"] ?? "0") ?? 0
      connection.send(Self.stream + "retry: \(retry)\n\nid: \(last + 1)\ndata: \(last + 1)\n\n")
    }
    var events = Self.client(of: server, waits: waits).events().makeAsyncIterator()
    for number in 1...3 { #expect(try await events.next()?.text == "\(number)") }
    #expect(waits.all.count == 2 && waits.all.allSatisfy { $0 <= .seconds(86_400) })
  }

  @Test func `a connection that stands begins the delays anew`() async throws {
    let waits = WaitList()
    let server = try StandIn { request, connection in
      let last = Int(request.fields["last-event-id"] ?? "0") ?? 0
      connection.send(Self.stream + "id: \(last + 1)\ndata: \(last + 1)\n\n")
    }
    var events = Self.client(of: server, waits: waits).events().makeAsyncIterator()
    for _ in 0..<9 { _ = try await events.next() }
    #expect(waits.all.count == 8 && waits.all.allSatisfy { $0 <= .seconds(1) })
  }

  @Test func `a stream's own delay is that of the first reconnection`() async throws {
    let waits = WaitList()
    let server = try StandIn { request, connection in
      connection.send(Self.stream + "retry: 60000\n\nid: 1\ndata: a\n\n")
    }
    var events = Self.client(of: server, waits: waits).events().makeAsyncIterator()
    for _ in 0..<2 { _ = try await events.next() }
    #expect(waits.all.count == 1 && waits.all.allSatisfy { $0 >= .seconds(30) })
  }
}
