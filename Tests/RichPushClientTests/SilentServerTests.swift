import Foundation
import Testing

@testable import RichPushClient

/// A server that accepts a request and then says nothing.
@Suite(.timeLimit(.minutes(1))) struct SilentServerTests {
  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"])
  func `a request fails when nothing has come for its time`(beginning: String) async throws {
    let server = try StandIn { _, connection in
      connection.send(beginning)
      connection.waitUntilClosed()
    }
    var request = HTTPRequest(method: "GET", url: server.endpoint, fields: [:])
    request.timeout = 1
    let start = ContinuousClock.now
    await #expect(throws: (any Error).self) { _ = try await HTTPTransport().data(for: request) }
    #expect(.now - start < .seconds(30))
  }
}
