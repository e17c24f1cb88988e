import Foundation
import StandIns
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

  @Test func `a request fails when no connection has come about in its time`() async throws {
    // It takes one connection, and answers no attempt to make another.
    let (listener, port) = try LoopbackSocket.listening(backlog: 0)
    defer { close(listener) }
    let first = try LoopbackSocket.connected(to: port)
    defer { close(first) }
    let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
    var request = HTTPRequest(method: "GET", url: url, fields: [:])
    request.timeout = 1
    let start = ContinuousClock.now
    await #expect(throws: (any Error).self) { _ = try await HTTPTransport().data(for: request) }
    #expect(.now - start < .seconds(20))
  }
}
