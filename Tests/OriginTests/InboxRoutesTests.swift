import Foundation
import HTTP
import RichPushAPI
import Store
import TestSupport
import Testing

/// What users find in their inboxes, and change in them.
@Suite(.timeLimit(.minutes(2))) struct InboxRoutesTests {
  private func insert(
    _ message: String, members: String? = nil, to: [String] = ["username:device"],
    _ server: TestServer
  ) async throws {
    var new = NotificationInsert(message: message, richType: "", payload: "")
    (new.members, new.form, new.to) = (members, "alert", to)
    new.sender = try await server.id(of: "publisher")
    new.recipients = [try await server.id(of: "device")]
    _ = try await server.store.notifications.create(new)
  }

  /// The IDs on all pages, of two each.
  private func found(_ query: String, _ server: TestServer) async throws -> [Int] {
    var (ids, path) = ([Int](), "/api/notifications?limit=2&" + query)
    while true {
      let page = try await server.execute("GET", path, as: "device")
      try #require(page.status == 200, "\(path): \(page.detail ?? "")")
      ids += page.objects("notifications").compactMap { $0["id"] as? Int }
      guard let next = page.json["next"] as? String else { return ids }
      path = next
    }
  }

  @Test func `are searched by words in what the reader is told, and by subject, page by page`()
    async throws
  {
    try await TestServer.test { server in
      for number in 0..<120 {
        switch number % 30 {
        case 0: try await insert("Frühlingsfest im PARK", to: ["news"], server)
        case 1: try await insert("m", members: #"{"title":"Parkfest"}"#, server)
        case 2: try await insert("m", members: #"{"subtitle":"im Park & Ride"}"#, server)
        case 3: try await insert("m", to: ["news && !muted"], server)
        case 4: try await insert("m", to: ["muted || !news"], server)
        case 5: try await insert("m", to: ["newsletter", "news-2"], server)
        default: try await insert("no. \(number)", server)
        }
      }
      let base = [90, 60, 30, 0]
      #expect(try await found("search=fruhlings%20PARK", server) == base)
      #expect(try await found("search=parkfest", server) == base.map { $0 + 1 })
      #expect(try await found("search=park%20%26%20ride", server) == base.map { $0 + 2 })
      #expect(try await found("search=park", server).count == 12)
      #expect(try await found("search=unheard", server).isEmpty)
      #expect(try await found("subject=news", server) == base.flatMap { [$0 + 3, $0] })
      #expect(try await found("subject=muted", server) == base.map { $0 + 4 })
      #expect(try await found("subject=news&search=fest", server) == base)
      #expect(try await found("", server) == (0..<120).reversed())
      _ = try await server.execute("PUT", "/api/notifications/90/read", as: "device")
      #expect(try await found("subject=news&search=fest&unread=true", server) == [60, 30, 0])
      for query in ["subject=", "subject=a%20b", "search=" + String(repeating: "x", count: 201)] {
        let status = try await server.status("GET", "/api/notifications?" + query, as: "device")
        #expect(status == 400, "\(query)")
      }
      #expect(
        try await server.status("GET", "/api/notifications?sent&subject=a", as: "publisher") == 400)
    }
  }

  @Test func `a search looks at what is said in the reader's language`() async throws {
    try await TestServer.test { server in
      try await insert(
        "parcel", members: #"{"language":"en","languages":{"de":{"message":"Paket"}}}"#, server)
      for (word, language, count) in [
        ("paket", "de", 1), ("parcel", "de", 0), ("parcel", "en", 1), ("paket", "en", 0),
      ] {
        let page = try await server.execute(
          "GET", "/api/notifications?search=\(word)", as: "device",
          fields: ["Accept-Language": language])
        #expect(page.objects("notifications").count == count, "\(word) in \(language)")
      }
    }
  }

  @Test func `are marked read up to a notification, by password and by token`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      for _ in 0..<4 { try await server.publish() }
      _ = try await server.execute(
        "PUT", "/api/register/phone", as: "device", body: #"{"Platform":"apns","Handle":"AA"}"#)
      let issued = try await server.execute("POST", "/api/register/phone/token", as: "device")
      let token = try #require(issued.json["token"] as? String)
      let read = try await server.execute(
        "POST", "/api/notifications/read", token: token, body: #"{"until":1}"#)
      #expect(read.status == 200 && read.json["unread"] as? Int == 2)
      let receipts = try await server.execute(
        "GET", "/api/notifications/1/receipts", as: "publisher")
      let receipt = try #require(receipts.objects("receipts").first)
      #expect(receipt["state"] as? String == "read")
      #expect(
        (receipt["devices"] as? [[String: Any]])?.map { $0["registration"] as? String } == ["phone"]
      )
      let all = try await server.execute(
        "POST", "/api/notifications/read", as: "device", body: #"{"until":9007199254740991}"#)
      #expect(all.json["unread"] as? Int == 0)
      for body in ["", "{}", #"{"until":-1}"#, #"{"until":"1"}"#, #"{"until":1,"x":1}"#] {
        let status = try await server.status(
          "POST", "/api/notifications/read", as: "device", body: body)
        #expect(status == 400, "\(body)")
      }
    }
  }

  @Test func `are tidied, on all devices`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      for _ in 0..<2 { try await server.publish() }
      let path = "/api/notifications/1/hidden"
      func inbox() async throws -> TestResponse {
        try await server.execute("GET", "/api/notifications", as: "device")
      }
      for _ in 0..<2 { #expect(try await server.status("PUT", path, as: "device") == 204) }
      #expect(try await inbox().objects("notifications").map { $0["id"] as? Int } == [0])
      #expect(try await inbox().json["unread"] as? Int == 1)
      #expect(try await server.status("GET", "/api/notifications/1", as: "device") == 200)
      for _ in 0..<2 { #expect(try await server.status("DELETE", path, as: "device") == 204) }
      #expect(try await inbox().json["unread"] as? Int == 2)
      #expect(try await server.status("PUT", path, as: "admin") == 404, "it is not admin's")
    }
  }
}
