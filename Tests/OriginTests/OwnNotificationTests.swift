import Foundation
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// What a device can send itself, and that it learns nothing of what it may not see.
@Suite(.timeLimit(.minutes(1))) struct OwnNotificationTests {
  private func withServer(_ test: (TestServer) async throws -> Void) async throws {
    try await TestServer.test(
      prepare: { configuration, scratch in
        (configuration.standard.richType, configuration.standard.payload) = ("file", "default.bin")
        try scratch.installNote()
        // Takes files only, and gives them as they are.
        try scratch.installPlugin(
          "file",
          manifest: #"{"accepts":["application/octet-stream"],"verbs":["validate","render"]}"#,
          """
          case $RICH_VERB in
            validate)
              read -r first <"$RICH_ASSET_PATH"
              case $first in
                *bad*) printf 'Status: 422\\nContent-Type: text/plain\\n\\nIt is bad.' ;;
                *) printf 'Content-Type: application/json\\n\\n{}' ;;
              esac ;;
            *) printf 'Content-Type: application/octet-stream\\nX-Sendfile: asset\\n\\n' ;;
          esac
          """)
      }, test)
  }

  private static func body(_ richType: String, _ payload: String, _ more: String = "") -> String {
    #"{"message":"m","richType":"\#(richType)","payload":"\#(payload)","to":["username:device"]\#(more)}"#
  }

  private func post(
    _ server: TestServer, _ richType: String, _ payload: String, as user: String = "device",
    _ query: String = "", more: String = ""
  ) async throws -> TestResponse {
    try await server.execute(
      "POST", "/api/notifications" + query, as: user, body: Self.body(richType, payload, more))
  }

  @Test func `a device cannot send itself an asset that it was not sent, nor learn its name`()
    async throws
  {
    try await withServer { server in
      try server.scratch.write("\0secret", to: "assets/file/phone.bin")
      try server.scratch.write("\0bad\n", to: "assets/file/refused.bin")
      try await eventually("the assets are checked") {
        try await server.execute("GET", "/api/assets/file", as: "publisher")
          .objects("assets").count == 2
      }
      let expected = try await post(server, "file", "no-such.bin")
      #expect(expected.status == 422)
      for (type, name) in [
        ("file", "phone.bin"), ("file", "Phone.bin"), ("file", "refused.bin"), ("file", "a/b"),
        ("nothing", "phone.bin"),
      ] {
        for query in ["", "?dry-run"] {
          let answer = try await post(server, type, name, query)
          #expect(
            [answer.code, answer.detail] == [expected.code, expected.detail]
              && answer.status == expected.status, "\(type)/\(name)\(query): \(answer.detail ?? "")"
          )
        }
      }
      // Nor by a change of a text of its own.
      #expect(try await post(server, "note", "phone.bin").status == 201)
      let target = "/api/notifications/0"
      for type in ["file", "nothing"] {
        let patch = try await server.execute(
          "PATCH", target, as: "device", body: #"{"richType":"\#(type)"}"#)
        #expect(patch.status == 422 && patch.detail == expected.detail, "\(patch.detail ?? "")")
      }
      #expect(try await server.execute("GET", target, as: "device").text == "phone.bin|")
      #expect(try await server.store.notifications.notification(1) == nil)
      // A publisher is told what is wrong.
      #expect(
        try await post(server, "file", "Phone.bin", as: "publisher").detail?
          .contains("“phone.bin”") == true)
    }
  }

  @Test func `a device can send itself what it was sent, with the content of then`() async throws {
    try await withServer { server in
      try server.scratch.write("\0one", to: "assets/file/phone.bin")
      let later = #","notBefore":"\#(Date(timeIntervalSinceNow: 3600).formatted(.iso8601))""#
      #expect(
        try await post(server, "file", "phone.bin", as: "publisher", more: later).status == 201)
      #expect(
        try await post(server, "file", "phone.bin").status == 422, "it does not know of it yet")
      #expect(try await post(server, "file", "phone.bin", as: "publisher").status == 201)
      try server.scratch.write("\0unreleased", to: "assets/file/phone.bin")
      let dry = try await post(server, "file", "phone.bin", "?dry-run")
      #expect(dry.status == 200 && dry.objects("renditions").allSatisfy { $0["url"] is NSNull })
      let own = try await post(server, "file", "phone.bin")
      #expect(own.status == 201, "\(own.detail ?? "")")
      let id = try #require(own.json["id"] as? Int)
      let media = try await server.execute("GET", "/api/notifications/\(id)", as: "device")
      #expect(media.text == "\0one")
      let other = Self.body("file", "phone.bin").replacing("device", with: "other")
      try await server.addUser("other", .device)
      #expect(
        try await server.status("POST", "/api/notifications", as: "other", body: other) == 422)
    }
  }

  @Test func `a device can send itself the default notification, and is told no more if it cannot`()
    async throws
  {
    try await withServer { server in
      let missing = try await server.execute("POST", "/api/notifications", as: "device")
      #expect(missing.status == 422 && missing.detail?.contains("default.bin") == false)
      let known = try await server.execute("POST", "/api/notifications", as: "publisher")
      #expect(known.detail?.contains("default.bin") == true)
      try server.scratch.write("\0default", to: "assets/file/default.bin")
      #expect(try await server.status("POST", "/api/notifications", as: "device") == 200)
      let media = try await server.execute("GET", "/api/notifications/0", as: "device")
      #expect(media.text == "\0default")
    }
  }
}
