import Foundation
import Media
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// The erasure of users by the API, and how long records are kept.
@Suite(.timeLimit(.minutes(1))) struct ErasureRoutesTests {
  @Test func `an erased user has no access, and the rest follows, but never the last admin's`()
    async throws
  {
    try await TestServer.test { server in
      let created = try await server.execute(
        "POST", "/api/notifications", as: "publisher",
        body: #"{"message":"m","to":["username:device"]}"#)
      let id = try #require(created.json["id"] as? Int)
      let store = server.origin.housekeeping.store
      #expect(
        try await server.status("DELETE", "/api/users/admin?erase", as: "admin") == 409)
      #expect(
        try await server.status("DELETE", "/api/users/device?erase", as: "publisher") == 403)
      #expect(try await server.status("DELETE", "/api/users/nobody?erase", as: "admin") == 404)
      #expect(try await server.status("DELETE", "/api/users/device?erase", as: "admin") == 202)
      #expect(try await server.status("GET", "/api/notifications", as: "device") == 401)
      // The server may be doing it already.
      try await eventually("the erasure is complete") {
        _ = try await store.continueErasures()
        return try await store.erasures.erasures().isEmpty
      }
      #expect(try await store.notifications.notification(id) == nil)
      #expect(
        try await server.status("GET", "/api/notifications/\(id)/details", as: "publisher") == 404)
    }
  }

  @Test func `ages are hours, days or years, of what can be removed`() throws {
    var configuration = try OriginConfiguration()
    try configuration.keep(["notifications=1y,receipts=90d"])
    #expect(configuration.retention.notificationAge == 31_536_000)
    #expect(configuration.retention.receiptAge == 7_776_000)
    try configuration.keep(["receipts=12h"])
    #expect(configuration.retention.receiptAge == 43_200)
    for text in ["", "users=1d", "receipts", "receipts=0d", "receipts=5", "receipts=-1d", "=1d"] {
      #expect(throws: OperatorError.self, "\(text)") { try configuration.keep([text]) }
    }
  }
}
