import Foundation
import RichPushClient
import StandIns
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

  @Test func `a whole message is shown, and one without media fetches none`()
    async throws
  {
    try await BrowserPage.lend { server, page in
      try page.signIn("alice", "alice")
      try await eventually("the browser is registered") {
        try page.status() == "This browser gets the pushes of alice."
      }
      var parcel = NewNotification("Your parcel is at the door.", to: .users(["alice"]))
      (parcel.message.title, parcel.message.subtitle) = ("Parcel", "Order 4711")
      (parcel.message.link, parcel.message.sound) = ("https://shop.example/4711", .silent)
      parcel.message.actions = [
        MessageAction("track", label: "Track"), MessageAction("later", label: "Later"),
        MessageAction("cancel", label: "Cancel order"),
      ]
      parcel.message.data = .object(["order": .string("4711")])
      let id = try await server.client("shop").create(parcel).id
      func shown() throws -> String {
        try page.value(
          """
          navigator.serviceWorker.ready.then(worker => worker.getNotifications())
            .then(all => all.map(one => [
              one.title, one.body, one.tag, one.silent, one.data.link, one.data.data?.order,
              ...one.actions.map(({ action, title }) => action + " " + title)].join("|"))
              .sort().join("; "))
          """
        ).text ?? ""
      }
      let parcelShown =
        "Parcel|Order 4711\nYour parcel is at the door.|rich-\(id)|true|https://shop.example/4711|4711"
        + "|track Track|later Later"
      try await eventually("its worker shows it") { try shown() == parcelShown }
      try await eventually("the page shows its texts, its link and no picture") {
        try page.value(
          """
          [...document.querySelectorAll("#inbox li")].map(item =>
            [...item.querySelectorAll(".said, a, img")].map(one => one.textContent || "picture")
              .join("|")).join("; ")
          """
        ).text == "Parcel|Order 4711|Your parcel is at the door.|https://shop.example/4711"
      }
      // A picture that comes later was fetched after the text was dealt with.
      let picture = try await server.client("shop").create(.logo(to: "alice")).id
      let lane = "webpush:http://127.0.0.1:\(page.firefox.port)"
      try await eventually("the receipt of the picture names the browser") {
        try server.deliveries(of: picture) == [lane + " fetched"]
      }
      try await eventually("that of the text was displayed") {
        try server.deliveries(of: id) == [lane + " displayed"]
      }
      var secret = parcel
      secret.message.lockScreen = .secret
      let hidden = try await server.client("shop").create(secret).id
      let secretShown = "New notification||rich-\(hidden)|true|https://shop.example/4711|4711;"
      try await eventually("what is secret is shown without its texts") {
        try shown().contains(secretShown)
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
