import Dispatch
import Foundation
import RichPushClient
import Synchronization
import Testing

@Suite struct PushEventsTests {
  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 1\n\n"

  @Test func `delivers an event while the answer is still open`() async throws {
    let wasReceived = DispatchSemaphore(value: 0)
    let server = try StandIn { _, connection in
      connection.send(Self.head + "id: 1\ndata: first\n\n")
      wasReceived.wait()
      connection.send("id: 2\ndata: second\n\n")
      wasReceived.wait()
    }
    var events = client(of: server).events().makeAsyncIterator()
    #expect(try await events.next()?.text == "first")
    wasReceived.signal()
    #expect(try await events.next()?.text == "second")
    wasReceived.signal()
  }

  @Test func `reconnects and says which event came last`() async throws {
    let server = try StandIn { request, connection in
      let last = Int(request.fields["last-event-id"] ?? "0") ?? 0
      connection.send(Self.head + "id: \(last + 1)\ndata: \(last + 1)\n\nid: 99\ndata: cut sho")
    }
    var texts: [String] = []
    for try await event in client(of: server).events(after: "6") {
      texts.append(event.text)
      if texts.count == 3 { break }
    }
    #expect(texts == ["7", "8", "9"])
    #expect(server.requests.map { $0.fields["last-event-id"] }.prefix(3) == ["6", "7", "8"])
  }

  @Test func `says once of each connection that it stands`() async throws {
    let wasReceived = DispatchSemaphore(value: 0)
    let server = try StandIn { _, connection in
      connection.send(Self.head + "data: a\n\n")
      wasReceived.wait()
      connection.send("data: b\n\n")
    }
    let (connections, mark) = AsyncStream.makeStream(of: Void.self)
    var events = client(of: server).events { _ in mark.yield() }.makeAsyncIterator()
    for _ in 0..<2 {
      #expect(try await events.next()?.text == "a")
      wasReceived.signal()
      #expect(try await events.next()?.text == "b")
    }
    mark.finish()
    var count = 0
    for await _ in connections { count += 1 }
    #expect(count == 2)
  }

  @Test func `waits and comes back when the server is busy or down`() async throws {
    let server = try StandIn { request, connection in
      switch request.fields["last-event-id"] {
      case nil: connection.send(Self.head + "id: 1\ndata: a\n\n")
      case "1": connection.send(Self.head + "id: 2\n\n")
      case "2": connection.send("HTTP/1.1 200 OK\r\n\r\nid: 3\n\nid: 4\n")
      default: connection.send(Self.head + "data: b\n\n")
      }
    }
    var events = client(of: server).events().makeAsyncIterator()
    #expect(try await events.next()?.text == "a")
    #expect(try await events.next() == PushEvent(id: "3", text: "b"))
  }

  @Test func `gets another token when the server rejects one, once`() async throws {
    let issued = Atomic(0)
    let server = try StandIn { request, connection in
      if request.method == "POST" {
        let number = issued.add(1, ordering: .relaxed).newValue
        return connection.answer(201, [], #"{"token":"t-\#(number)"}"#)
      }
      guard request.fields["authorization"] == "Bearer t-2" else { return connection.answer(401) }
      connection.send(Self.head + "id: 1\ndata: a\n\n")
      connection.waitUntilClosed()
    }
    var client = client(of: server)
    client.device = "r-1"
    var events = client.events().makeAsyncIterator()
    #expect(try await events.next()?.text == "a")
    #expect(server.requests.map(\.method) == ["POST", "GET", "POST", "GET"])
  }

  @Test func `gives up at once when the password is wrong`() async throws {
    let server = try StandIn { _, connection in
      connection.answer(401, ["WWW-Authenticate: Basic realm=\"richpush\""])
    }
    var events = client(of: server).events().makeAsyncIterator()
    let error = await #expect(throws: RichPushError.self) { try await events.next() }
    #expect(error?.code == .unauthorized)
    #expect(server.requests.count == 1)
  }

  @Test func `closes its connection when nobody listens any more`() async throws {
    let (closed, mark) = AsyncStream.makeStream(of: Void.self)
    let server = try StandIn { _, connection in
      connection.send(Self.head + "data: a\n\n")
      connection.waitUntilClosed()
      mark.finish()
    }
    for try await _ in client(of: server).events() { break }
    let start = ContinuousClock.now
    for await _ in closed {}
    // Not only when nothing has come for 45 s.
    #expect(.now - start < .seconds(30))
  }

  @Test func `ends when its task is cancelled`() async throws {
    let server = try StandIn { _, connection in
      connection.send(Self.head + "data: a\n\n")
      connection.waitUntilClosed()
    }
    let client = client(of: server)
    let (firstCame, mark) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      for try await _ in client.events() { mark.finish() }
    }
    for await _ in firstCame {}
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test(arguments: [
    (#"{"aps":{"content-available":1},"richId":"0","richMessage":"m","richType":"img"}"#, 0, "img"),
    (#"{"richId":7,"richType":"url"}"#, 7, "url"),
    (#"{"aps":{"alert":"From bob: hi"}}"#, nil, nil),
    ("not JSON", nil, nil),
  ])
  func `reads what a push says`(text: String, id: Int?, richType: String?) {
    let push = PushEvent(id: "1", text: text).push
    #expect(push.id == id)
    #expect(push.richType == richType)
    #expect(push.message.text == (text.contains("bob") ? "From bob: hi" : id == 0 ? "m" : ""))
  }

  @Test func `reads every notification that a merged push speaks for`() {
    let text = #"{"aps":{"alert":{"body":"b\na"}},"richId":"8","richIds":["8","7"]}"#
    #expect(PushEvent(id: "1", text: text).push.ids == [8, 7])
    #expect(PushEvent(id: "1", text: #"{"richId":"0"}"#).push.ids == [0])
    #expect(PushEvent(id: "1", text: "{}").push.ids == [])
  }

  private func client(of server: StandIn) -> RichPushClient {
    RichPushClient(endpoint: server.endpoint, user: "alice", password: "alice")
  }
}
