import Foundation
import Testing

@testable import RichPushClient

/// An app that reads its events more slowly than they come.
@Suite(.timeLimit(.minutes(2))) struct SlowReaderTests {
  /// More than the client keeps.
  private static let count = 4000
  private static let filling = String(repeating: "x", count: 8000)

  @Test func `gets all events, in order, although the client does not keep them all`() async throws
  {
    let (ended, ending) = AsyncStream.makeStream(of: Void.self)
    let server = try StandIn { request, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 1\n\n")
      let last = Int(request.fields["last-event-id"] ?? "0") ?? 0
      for number in last + 1..<Self.count + 1 {
        connection.send("id: \(number)\ndata: \(number) \(Self.filling)\n\n")
      }
      ending.yield()
      connection.waitUntilClosed()
    }
    let client = RichPushClient(endpoint: server.endpoint, user: "alice", password: "word")
    var events = client.events().makeAsyncIterator()
    var numbers = [try await events.next()?.id]
    // All were sent, or the client has ended the connection.
    for await _ in ended { break }
    while numbers.count < Self.count, let event = try await events.next() {
      numbers.append(event.id)
    }
    #expect(numbers == (1...Self.count).map(String.init))
    #expect(server.requests.count > 1, "not all of them were kept")
  }
}
