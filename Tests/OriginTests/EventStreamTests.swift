import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct EventStreamTests {
  private func open(
    _ server: TestServer, _ path: String = "/api/push/stream", as user: String = "device",
    after last: String? = nil
  ) async throws -> TestStream {
    let fields: Fields = last.map { ["Last-Event-ID": $0] } ?? [:]
    return try #require(try await server.execute("GET", path, as: user, fields: fields).stream)
  }

  @Test func `sends new events, and only the caller's`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      let stream = try await open(server)
      #expect(try await stream.next() == [TestStream.Event(id: "1")], "where to resume")
      try await server.publish(to: ["admin"])
      try await server.publish()
      let event = try #require(try await stream.nextEvent())
      #expect(event.id == "3" && event.name == "push" && event.data.contains(#""richId":"2""#))
      try await eventually("the receipt says that it was sent") {
        try await server.store.notifications.receipts(of: 2).first?.sent != nil
      }
      #expect(try await server.store.notifications.receipts(of: 0).first?.sent == nil)
    }
  }

  @Test func `resumes after the event that the client saw last, in order`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      for _ in 0..<3 { try await server.publish() }
      let stream = try await open(server, after: "1")
      #expect(try await stream.next()?.map(\.id) == ["1"])
      #expect(try await stream.next()?.map(\.id) == ["2", "3"])
      let all = try await open(server, after: "0")
      _ = try await all.next()
      #expect(try await all.next()?.map(\.id) == ["1", "2", "3"])
      // The ID of another store's event: nothing is left out from now on.
      let beyond = try await open(server, after: "99")
      #expect(try await beyond.next()?.map(\.id) == ["3"])
      try await server.publish()
      #expect(try await beyond.nextEvent()?.id == "4")
      for id in ["-1", "x", "1.5"] {
        let answer = try await server.execute(
          "GET", "/api/push/stream", as: "device", fields: ["Last-Event-ID": id])
        #expect(answer.status == 400, "\(id)")
      }
    }
  }

  @Test func `a publisher gets the receipts of its notifications, and asset events`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.addUser("other", .publisher)
      let (own, others) = (
        try await open(server, "/api/events/stream", as: "publisher"),
        try await open(server, "/api/events/stream", as: "other")
      )
      try await server.publish()
      _ = try await server.execute("GET", "/api/notifications/0", as: "device")
      // What became of the push is told before.
      var receipt = try #require(try await own.nextEvent())
      while !receipt.data.contains("fetched") { receipt = try #require(try await own.nextEvent()) }
      #expect(receipt.name == "receipt")
      #expect(try await server.status("PUT", "/api/assets/note/a", as: "admin", body: "x") == 201)
      #expect(try await others.nextEvent()?.name == "asset", "the receipt is not theirs")
      while receipt.name == "receipt" { receipt = try #require(try await own.nextEvent()) }
      #expect(receipt.name == "asset")
    }
  }

  @Test func `streams that are told together each get what their user has, after their last event`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      let behind = try await open(server, after: "0")
      let streams = [
        try await open(server), try await open(server, as: "publisher"), behind,
        try await open(server, as: "admin"),
      ]
      #expect(try await behind.nextEvent()?.id == "1")
      for id in 1...2 {
        try await server.publish(to: ["device", "publisher"])
        for stream in streams.dropLast() {
          let event = try #require(try await stream.nextEvent())
          #expect(event.data.contains(#""richId":"\#(id)""#))
        }
        try await eventually("the receipts say that it was sent") {
          try await server.store.notifications.receipts(of: id).filter { $0.sent != nil }.count == 2
        }
      }
      try await server.publish(to: ["admin", "device"])
      #expect(try await streams[3].nextEvent()?.data.contains(#""richId":"3""#) == true)
    }
  }

  @Test func `a client that was away for long gets all that it missed`() async throws {
    try await TestServer.test { server in
      let device = try await server.id(of: "device")
      for _ in 0..<250 { try await server.store.events.push("{}", to: [device], pushes: []) }
      let stream = try await open(server, after: "1")
      var ids: [String] = []
      while ids.last != "250", let events = try await stream.next() { ids += events.map(\.id) }
      #expect(ids == (1...250).map(String.init))
    }
  }

  @Test func `however much a client missed, the stream goes on with it`() async throws {
    try await TestServer.test { server in
      let device = try await server.id(of: "device")
      let text = String(repeating: "x", count: 4000)
      for _ in 0..<150 { try await server.store.events.push(text, to: [device], pushes: []) }
      let stream = try await open(server, after: "1")
      var (ids, rest) = ([String](), "")
      while ids.last != "id: 150", let bytes = try await stream.nextBytes() {
        var lines = (rest + String(decoding: bytes, as: UTF8.self)).components(separatedBy: "\n")
        rest = lines.removeLast()
        ids += lines.filter { $0.hasPrefix("id: ") }
        #expect(stream.unsentBytes < 200_000)
      }
      #expect(ids == (1...150).map { "id: \($0)" })
    }
  }

  @Test func `a client that does not read gets no more until it has`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let stream = try await open(server)
      for _ in 0..<3 { try await server.publish() }
      _ = try await stream.next()
      var ids: [String] = []
      while ids.count < 3 { ids += try await stream.next()?.map(\.id) ?? ["end"] }
      #expect(ids == ["1", "2", "3"])
    }
  }
}
