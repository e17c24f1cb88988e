import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Web Push to a real browser, over a crash of the server.
@Suite(.serialized, .timeLimit(.minutes(15))) struct BrowserPushSoakTests {
  @Test(arguments: 1...Soak.amount(short: 1, long: 10))
  func `a browser gets the push after a crash, shows it, and its fetch is the receipt`(
    run: Int
  ) async throws {
    try await BrowserPage.lend { server, page in
      try page.signIn("alice", "wrong")
      try await eventually("the password is refused") {
        try page.status().contains("password")
      }
      try page.signIn("alice", "alice")
      try await eventually("the browser is registered") {
        try page.status() == "This browser gets the pushes of alice."
      }
      // Kept are the registration, the name and the token; the field is empty again.
      let kept = try page.value("load()")
      #expect(kept.user.text == "alice" && kept.token.text?.count == 43)
      #expect(
        try page.value("load().then(device => Object.keys(device).sort().join())").text
          == "id,token,user")
      #expect(try page.value("document.getElementById('password').value").text == "")

      try page.firefox.tell(["do": "refuse", "count": 1000])
      let id = try await server.client("shop").create(.logo(to: "alice", "Look 🦊")).id
      func seen(_ name: String) throws -> [Any] {
        try page.firefox.tell(["do": "seen"])[name] as? [Any] ?? []
      }
      try await eventually("the push is refused") { try !seen("pushes").isEmpty }
      try await server.restart(by: SIGKILL) {
        try page.firefox.tell(["do": "refuse", "count": 0])
      }
      try await eventually("Firefox acknowledges it") { try !seen("acks").isEmpty }
      #expect(try seen("acks").first as? Int == 100)
      try await eventually("its worker shows it") {
        try page.value(
          """
          navigator.serviceWorker.ready.then(worker => worker.getNotifications())
            .then(shown => shown.map(one => one.title + one.tag))
          """) == .array([.string("Look 🦊rich-\(id)")])
      }
      let lane = "webpush:http://127.0.0.1:\(page.firefox.port)"
      try await eventually("the receipt names the browser") {
        try server.deliveries(of: id) == [lane + " fetched"]
      }
      // The page shows text and picture.
      try await eventually("the page shows text and picture") {
        try page.value(
          """
          [...document.querySelectorAll('li')].map(li => li.querySelector('p').textContent
            + (li.querySelector('img')?.naturalWidth > 0))
          """) == .array([.string("Look 🦊true")])
      }
      // What the worker does when the notification is clicked; the browser has no desktop to click it on.
      let worker = try RawConnection(port: server.port).exchange("GET /push/worker.js HTTP/1.1\r\n")
        .text
      _ = try page.value(
        """
        (async () => {
          const self = { addEventListener() {}, registration: { scope: location.href },
            clients: { matchAll: async () => [], openWindow: async () => {} } };
          const importScripts = () => {};
          \(worker)
          await open({ close() {}, data: { richId: "\(id)" } });
        })()
        """)
      #expect(try server.deliveries(of: id) == [lane + " read"])
    }
  }
}
