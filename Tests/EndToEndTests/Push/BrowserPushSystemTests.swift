import Foundation
import RichPushClient
import Testing
import Waiting

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
      // The same browser is the same device again; another user's is another one.
      for user in ["alice", "bob"] {
        try page.signIn(user, user)
        try await eventually("it is registered again") {
          try page.status() == "This browser gets the pushes of \(user)."
        }
        #expect(try (page.value("load()").id.text == id) == (user == "alice"))
        #expect(try await server.client("admin").devices(of: user).devices.count == 1)
        _ = try page.value("document.getElementById('turn-off').click()")
        try await eventually("it is off") { try page.status().contains("gets no pushes") }
      }
    }
  }

  @Test func `each notification shows its time, picture or link, and whether it was read`()
    async throws
  {
    try await BrowserPage.lend { server, page in
      _ = try await server.client("shop").create(.logo(to: "alice"))
      _ = try await server.client("shop").create(
        NewNotification("Go", richType: "url", payload: "welcome.url", to: .users(["alice"])))
      try page.signIn("alice", "alice")
      func shown() throws -> String {
        try page.value(
          """
          [...document.querySelectorAll("#inbox li")].map(item => [item.className,
            item.querySelector("time")?.dateTime.length, item.querySelector("a")?.href ?? "",
            item.querySelector("img")?.naturalWidth ?? 0].join()).join(" ")
          """
        ).text ?? ""
      }
      let link = "https://www.swift.org/getting-started/"
      try await eventually("both are shown") {
        try shown() == "unread,24,\(link),0 unread,24,,512"
      }
      #expect(try page.value("card({ url: 'javascript:alert(1)', title: 'x' })") == .null)
      _ = try page.value("document.querySelector('#inbox .mark').click()")
      try await eventually("one is read") { try shown() == ",24,\(link),0 unread,24,,512" }
      #expect(try await server.client("alice").inbox().unread == 1)
      _ = try page.value("void (self.isOld = true, setTimeout(() => location.reload()))")
      try await eventually("it still is after a reload") {
        (try? page.value("self.isOld ?? true")) == .bool(true)
          && (try? shown()) == ",24,\(link),0 unread,24,,512"
      }
    }
  }

  @Test func `a film is a poster until it is played`() async throws {
    try await BrowserPage.lend { server, page in
      let film = server.scratch.folder.appending(path: "film.mp4")
      let made = try await Child.run(
        "/bin/bash",
        [
          "-c",
          """
          ffmpeg -v error -f lavfi -i testsrc2=s=320x180:r=10:d=2 -pix_fmt yuv420p -c:v libx264 \
            \(film.path)
          """,
        ])
      try #require(made.exitCode == 0, "\(made.errors)")
      let shop = server.client("shop")
      _ = try await shop.upload(film, richType: "video")
      _ = try await shop.create(
        NewNotification("A film", richType: "video", payload: "film.mp4", to: .users(["alice"])))
      try page.signIn("alice", "alice")
      try await eventually("its poster is shown") {
        try page.value("document.querySelector('#inbox img')?.naturalWidth ?? 0").integer ?? 0 > 0
      }
      #expect(try page.value("document.querySelector('video')") == .null)
      _ = try page.value(
        """
        [...document.querySelectorAll("#inbox button")]
          .find(button => button.textContent === "Play the film").click()
        """)
      try await eventually("it is there") {
        try page.value("document.querySelector('video')?.src ?? ''").text?.hasPrefix("blob:")
          == true
      }
    }
  }

  @Test func `a push service that does not answer is told of, and the form can be sent again`()
    async throws
  {
    try await BrowserPage.lend { _, page in
      _ = try page.value(
        """
        void (self.original = PushManager.prototype.subscribe,
          PushManager.prototype.subscribe = () => new Promise(() => {}))
        """)
      try page.signIn("alice", "alice")
      try await eventually("it says so") { try page.status().contains("cannot be reached") }
      #expect(try page.value("document.querySelector('#sign-in button').disabled") == .bool(false))
      _ = try page.value("void (PushManager.prototype.subscribe = self.original)")
      try page.signIn("alice", "alice")
      try await eventually("the browser is registered") {
        try page.status() == "This browser gets the pushes of alice."
      }
    }
  }
}
