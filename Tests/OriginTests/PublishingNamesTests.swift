import Foundation
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// Files by which the server publishes in a user's name, and who may touch them by the API.
@Suite(.timeLimit(.minutes(1))) struct PublishingNamesTests {
  /// Takes every file, as the documentation's `document` does.
  private func withServer(
    as sender: String? = "admin", _ test: (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.test(
      prepare: { configuration, scratch in
        configuration.publishAs = sender
        for type in ["note", "outbox"] {
          try scratch.installPlugin(
            type, manifest: #"{"verbs":["validate","render"],"accepts":["*/*"]}"#,
            """
            case $RICH_VERB in
              validate) printf 'Content-Type: application/json\\n\\n{}' ;;
              *) printf 'Content-Type: text/plain\\n\\nok' ;;
            esac
            """)
        }
      }, test)
  }

  private static let sidecar = #"{"to":["username:device"]}"#

  private func escaped(_ name: String) -> String {
    name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  @Test func `a publisher cannot publish in another's name by an upload`() async throws {
    try await withServer { server in
      let target = "/api/assets/note/a.txt"
      #expect(try await server.status("PUT", target, as: "publisher", body: "one") == 201)
      let put = try await server.execute(
        "PUT", target + ".notify.json", as: "publisher", body: Self.sidecar)
      #expect(put.status == 403 && put.code == "forbidden", "\(put.detail ?? "")")
      #expect(server.scratch.names(in: "assets/note") == ["a.txt"])

      // The one in whose name it is published.
      let own = try await server.execute(
        "PUT", target + ".notify.json", as: "admin", body: Self.sidecar)
      #expect(own.status == 201, "\(own.detail ?? "")")
      try await eventually("it is published") {
        try await server.store.notifications.notification(0) != nil
      }
      #expect(
        try await server.store.notifications.notification(0)?.sender == server.id(of: "admin"))
      #expect(try await server.status("GET", target + ".notify.json", as: "publisher") == 404)
      let listed = try await server.execute("GET", "/api/assets/note", as: "publisher")
      #expect(listed.objects("assets").compactMap { $0["name"] as? String } == ["a.txt"])
      #expect(try await server.status("DELETE", target + ".notify.json", as: "admin") == 204)
    }
  }

  @Test(arguments: [
    "a.txt.notify.json", "a.txt.NOTIFY.Json", "a.txt.notify.sent.json", "a.txt.notify.error.txt",
    "default.notify.json", "a\u{600}.notify.json", "a.txt.notify.j\u{17F}on",
    "a.txt.noti\u{200B}fy.json", "a.txt.notify.json.", "a.txt.notify.json ", "e\u{301}.notify.json",
  ])
  func `nobody else writes, replaces or removes what publishes, however it is spelled`(
    name: String
  ) async throws {
    try await withServer { server in
      let target = "/api/assets/note/" + escaped(name)
      #expect(try await server.status("PUT", target, as: "publisher", body: "{}") == 403)
      #expect(server.scratch.names(in: "assets/note") == [])
      try server.scratch.write("kept", to: "assets/note/" + name)
      #expect(try await server.status("PUT", target, as: "publisher", body: "{}") == 403)
      #expect(try await server.status("DELETE", target, as: "publisher") == 403)
      #expect(server.scratch.read("assets/note/" + name) == "kept")
      #expect(try await server.status("DELETE", target, as: "admin") == 204)
    }
  }

  @Test func `files that are not assets stay as they are`() async throws {
    try await withServer { server in
      for name in ["outbox/a.txt", "note/.richpush-upload-1", "note/.hidden", "note/a.txt.tmp"] {
        try server.scratch.write("kept", to: "assets/" + name)
        let target = "/api/assets/" + name
        let refusal = name.hasPrefix("outbox") ? 403 : 422
        #expect(try await server.status("PUT", target, as: "publisher", body: "x") == refusal)
        #expect(try await server.status("DELETE", target, as: "publisher") == refusal, "\(name)")
        #expect(server.scratch.read("assets/" + name) == "kept")
        // What is in the publish folder is listed, if it cannot be sent.
        guard refusal == 422 else { continue }
        #expect(try await server.status("GET", target, as: "publisher") == 404, "\(name)")
      }
    }
  }

  @Test(arguments: ["admin", nil] as [String?])
  func `new content beside another's sidecar is refused, which would be published`(
    sender: String?
  ) async throws {
    try await withServer(as: sender) { server in
      // As it was dropped on macOS.
      for name in ["a.txt", "e\u{301}.txt"] {
        try server.scratch.write(Self.sidecar, to: "assets/note/\(name).notify.json")
        let target = "/api/assets/note/" + escaped(name)
        #expect(try await server.status("PUT", target, as: "publisher", body: "mine") == 403)
        try server.scratch.write("theirs", to: "assets/note/" + name)
        #expect(try await server.status("PUT", target, as: "publisher", body: "mine") == 403)
        #expect(try await server.status("DELETE", target, as: "publisher") == 403)
        #expect(server.scratch.read("assets/note/" + name) == "theirs")
        guard sender != nil else { continue }
        #expect(try await server.status("PUT", target, as: "admin", body: "theirs") < 300)
        #expect(try await server.status("DELETE", target, as: "admin") == 204)
      }
    }
  }
}
