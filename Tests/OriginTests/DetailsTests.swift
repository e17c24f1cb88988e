import Foundation
import Store
import Testing

@testable import Origin

/// Who sees what became of a notification.
@Suite(.timeLimit(.minutes(2))) struct DetailsTests {
  @Test func `a recipient sees its own receipt, the sender and an admin see all`() async throws {
    try await Site.lend { site in
      let (device, sender) = (Site.user(.device), Site.user(.publisher))
      try await site.add("bob", .publisher)
      try await site.add("carol", .publisher)
      var new = NewNotification(message: "m", richType: "img", payload: "a.png")
      let store = try Store(folder: site.configuration.data, access: .guest)
      let ids = try await store.userIDs(
        of: [device, "bob", sender], admittingGuests: false)
      new.sender = ids[sender]
      new.recipients = try [device, "bob"].map { try #require(ids[$0]) }
      let id = try await store.create(new).notification.id

      func details(_ user: String) throws -> [String: Any]? {
        let connection = site.connect()
        connection.send(
          "GET /api/notifications/\(id)/details HTTP/1.1\r\nHost: x\r\n"
            + "\(Site.credentials(user))\r\n")
        let answer = connection.answer()
        guard answer.status == 200 else { return nil }
        return try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
      }
      func receipts(_ details: [String: Any]?) -> Set<String> {
        let all = details?["receipts"] as? [[String: Any]] ?? []
        return Set(all.compactMap { $0["user"] as? String })
      }
      // A role gives no more: what counts is who sent it.
      for recipient in [device, "bob"] {
        let found = try details(recipient)
        #expect(receipts(found) == [recipient])
        #expect(found?["deliveries"] == nil)
      }
      for overseer in [sender, Site.user(.admin)] {
        let found = try details(overseer)
        #expect(receipts(found) == [device, "bob"])
        #expect(found?["deliveries"] != nil)
      }
      #expect(try details("carol") == nil, "neither sender nor recipient")
    }
  }
}
