import Foundation
import RichPushClient
import Testing

/// Media for a service extension that holds no password, and for the caches in front of it.
@Suite(.timeLimit(.minutes(5))) struct SignedMediaTests {
  @Test func `an address from the details opens its rendition without a password`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let notification = try await alice.create(.logo(to: "alice"))
      let links = try server.links(of: notification.id, "?link=w100h90-cover")
      #expect(
        Set(links.keys)
          == ["original", "ios", "android", "watch", "web", "thumb", "w128h96-cover"])
      for (name, options) in [
        ("original", MediaOptions.original), ("thumb", MediaOptions(profile: "thumb")),
        ("w128h96-cover", MediaOptions(width: 128, height: 96, fit: .cover)),
      ] {
        let open = try server.get(links[name] ?? "")
        #expect(open.status == 200, "\(open.text)")
        #expect(
          open.body == [UInt8](try await alice.media(notification.id, options: options).bytes))
        #expect(open.fields["cache-control"] == "public, max-age=3600")
        #expect(open.fields["vary"] == nil && open.fields["set-cookie"] == nil)
        let again = try server.get(
          links[name] ?? "", "If-None-Match: \(open.fields["etag"] ?? "")")
        #expect(again.status == 304)
      }
    }
  }

  @Test func `an address that was changed opens nothing, and does not tell why`() async throws {
    try await RunningServer.lend { server in
      let notification = try await server.client("alice").create(.logo(to: "alice"))
      let link = try server.links(of: notification.id)["thumb"] ?? ""
      let refused = [
        link.replacing("/thumb?", with: "/ios?"), link.replacing("/media/0/", with: "/media/1/"),
        link.replacing("expires=", with: "expires=1"), link.replacing("key=1", with: "key=2"),
        String(link.dropLast()), link.replacing(/&signature=.*/, with: ""),
      ].map { changed in (changed, try? server.get(changed)) }
      for (changed, answer) in refused {
        #expect(answer?.status == 403, "\(changed)")
        #expect(answer?.text.contains(#""detail":"The address opens nothing: "#) == true)
        #expect(answer?.fields["cache-control"] == "no-store")
      }
    }
  }

  @Test func `an address ends with its notification`() async throws {
    try await RunningServer.lend { server in
      var new = NewNotification.logo(to: "alice")
      new.expires = Date(timeIntervalSinceNow: 90)
      let notification = try await server.client("alice").create(new)
      let link = try server.links(of: notification.id)["original"] ?? ""
      let answer = try server.get(link)
      #expect(answer.fields["cache-control"] == "public, max-age=60")
    }
  }

  @Test func `keys are rotated and removed while the server runs`() async throws {
    try await RunningServer.lend { server in
      let data = server.scratch.folder.path + "/var"
      let notification = try await server.client("alice").create(.logo(to: "alice"))
      let old = try server.links(of: notification.id)["original"] ?? ""
      let rotated = try await Child.run("richpush", ["key", "rotate", "--data", data])
      #expect(rotated.output == ["key 2 signs"])
      server.send(SIGHUP)
      try await eventually("the new key signs") {
        try server.links(of: notification.id)["original"]?.contains("key=2") == true
      }
      #expect(try server.get(old).status == 200)
      let newest = try await Child.run("richpush", ["key", "remove", "2", "--data", data])
      #expect(newest.exitCode == 1, "the key that signs stays")
      _ = try await Child.run("richpush", ["key", "remove", "1", "--data", data])
      try await eventually("the old key opens nothing") {
        try server.get(old).status == 403
      }
      #expect(
        try server.get(server.links(of: notification.id)["original"] ?? "").status == 200)
    }
  }

  @Test func `addresses are whole where the operator says how the world reaches the server`()
    async throws
  {
    try await RunningServer.lend(flags: ["--demo", "--public-url", "https://push.example/rich/"]) {
      server in
      let notification = try await server.client("alice").create(.logo(to: "alice"))
      let link = try server.links(of: notification.id)["ios"] ?? ""
      #expect(link.hasPrefix("https://push.example/rich/media/0/ios?expires="))
      #expect(try server.get(String(link.dropFirst(25))).status == 200)
    }
  }

  @Test func `a fetch by an address is its only recipient's, and nobody's where there are more`()
    async throws
  {
    try await RunningServer.lend { server in
      let shop = server.client("shop")
      let one = try await shop.create(.logo(to: "alice")).id
      let both = try await shop.create(
        NewNotification("m", richType: "img", payload: "logo.png", to: .users(["alice", "bob"]))
      ).id
      for id in [both, one] {
        let link = try server.links(of: id, user: "shop")["thumb"] ?? ""
        for _ in 0..<2 { #expect(try server.get(link).status == 200) }
      }
      try await eventually("it is noted") {
        try server.details(of: one, user: "shop").contains(#""fetched":"2"#)
      }
      #expect(try !server.details(of: both, user: "shop").contains(#""fetched":"2"#))
    }
  }

  @Test func `an address opens nothing once its content was withdrawn, however often it did`()
    async throws
  {
    try await RunningServer.lend { server in
      let shop = server.client("shop")
      let id = try await shop.create(.logo(to: "alice")).id
      let link = try server.links(of: id, user: "shop")["original"] ?? ""
      let tag = try server.get(link).fields["etag"] ?? ""
      for _ in 0..<3 { #expect(try server.get(link, "If-None-Match: \(tag)").status == 304) }
      try await shop.withdraw(id)
      #expect(try server.get(link).status == 403)
    }
  }

  @Test func `an address carries what the plugin declares`() async throws {
    try await RunningServer.lend { scratch in
      try scratch.drop(
        Array("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s' \"$QUERY_STRING\"\n".utf8),
        as: "plugins/card/card", executable: true)
      try scratch.drop(
        Array(#"{"protocol":1,"name":"card","executable":"card","query":["view"]}"#.utf8),
        as: "plugins/card/plugin.json")
    } to: { server in
      let shop = server.client("shop")
      let id = try await shop.create(
        NewNotification("m", richType: "card", payload: "x", to: .users(["alice"]))
      ).id
      let name = "w640;view=back"
      let link = try server.links(of: id, "?link=\(name)", user: "shop")[name] ?? ""
      #expect(try server.get(link).text == "width=640&view=back")
      #expect(try server.get(link.replacing("back", with: "side")).status == 403)
      let refused = try server.get(
        "/api/notifications/\(id)/details?link=w640;look=a", RunningServer.credentials("shop"))
      #expect(refused.status == 400)
    }
  }
}
