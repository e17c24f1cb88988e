import Foundation
import RichPushClient
import Testing

/// The page `/push/` in Debian's Firefox, headless and offline.
@Suite(.timeLimit(.minutes(5))) struct BrowserPushSystemTests {
  @Test func `the token suffices later, and turning it off ends the registration`() async throws {
    try await BrowserPage.lend { server, page in
      try page.signIn("alice", "alice")
      try await eventually("the browser is registered") {
        try page.status() == "This browser gets the pushes of alice."
      }
      let id = try #require(try page.value("load()").id.text)
      // The page opens again with the token alone.
      _ = try page.value("void (self.isOld = true, setTimeout(() => location.reload()))")
      try await eventually("it is still registered") {
        (try? page.value("self.isOld ?? document.getElementById('status').textContent"))
          == .string("This browser gets the pushes of alice.")
      }
      #expect(try page.value("load()").id.text == id)
      #expect(try await server.client("shop").create(.logo(to: "alice")).reach?.devices == 1)
      _ = try page.value("document.getElementById('turn-off').click()")
      try await eventually("it is off") { try page.status().contains("gets no pushes") }
      #expect(try await server.client("shop").create(.logo(to: "alice")).reach?.devices == 0)
      #expect(try page.value("load().then(device => device ?? null)") == .null)
    }
  }
}
