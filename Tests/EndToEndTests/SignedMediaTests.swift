import Foundation
import RichPushClient
import Testing
import Waiting

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
        #expect(answer?.text.contains(#""detail":"Invalid or revoked link.""#) == true)
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

  @Test func `only the address as it was made opens, and no spelling of it is logged`()
    async throws
  {
    let log = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    try await RunningServer.lend(flags: ["--demo", "--access-log", log.path]) { server in
      let id = try await server.client("alice").create(.logo(to: "alice")).id
      let link = try server.links(of: id)["thumb"] ?? ""
      let cut = try #require(link.firstIndex(of: "?"))
      let pairs = link[link.index(after: cut)...].split(separator: "&").map(String.init)
      let path = String(link[..<cut])
      let secret = try #require(pairs.last?.dropFirst("signature=".count))
      let escaped = secret.utf8.map { "%" + String($0, radix: 16) }.joined()
      let spellings = [
        "\(path)?\(pairs[1])&\(pairs[0])&\(pairs[2])",
        "\(path)?\(pairs[2])&\(pairs[0])&\(pairs[1])",
        link.replacing("expires=", with: "expires=0"),
        link.replacing("expires=", with: "expires=%2B"),
        link.replacing("key=1", with: "key=01"), link.replacing("key=1", with: "key=%31"),
        link.replacing("signature=", with: "s%69gnature="),
        link.replacing("signature=", with: "%73%69gnature="),
        link.replacing(secret, with: escaped), link.replacing("/thumb", with: "/thum%62"),
        link.replacing("/media", with: "/medi%61"), link.replacing("/media/0", with: "/media/00"),
        link.replacing("/media/", with: "/media//"), link.replacing("&key", with: "&&key"),
        link + "&", link + "&x=1", link + "&to=", link + "&to=1.x", link + "&to=01.x", link + "#",
        link + "&signature=" + secret, "http://127.0.0.1" + link, "/" + link,
        link.replacing("?", with: "%3f"), link.replacing("signature=", with: "Signature="),
        link.replacing("signature=", with: "s%2569gnature="), link.replacing("&", with: "&amp;"),
      ]
      for spelling in spellings {
        let status = try server.get(spelling).status
        #expect((400...404).contains(status), "\(spelling): \(status)")
      }
      #expect(try server.get(link).status == 200)
      // Once it stands, other spellings must not either.
      for spelling in spellings {
        #expect(try (400...404).contains(server.get(spelling).status), "\(spelling)")
      }
      let text = { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
      try await eventually("the answers are logged") {
        text().split(separator: "\n").count > 2 * spellings.count
      }
      #expect(!text().contains(secret) && !text().contains(escaped))
    }
  }

  @Test func `an address opens nothing that is made for each user, or held for later`()
    async throws
  {
    try await RunningServer.lend { scratch in
      try scratch.drop(
        Array("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s' \"$REMOTE_USER\"\n".utf8),
        as: "plugins/own/own", executable: true)
      try scratch.drop(
        Array(#"{"protocol":1,"name":"own","executable":"own","perUser":true}"#.utf8),
        as: "plugins/own/plugin.json")
    } to: { server in
      let shop = server.client("shop")
      let own = try await shop.create(
        NewNotification("m", richType: "own", payload: "x", to: .users(["alice"]))
      ).id
      #expect(
        try server.get("/api/notifications/\(own)", RunningServer.credentials("alice")).text
          == "alice")
      for (_, link) in try server.links(of: own, user: "shop") {
        #expect(try server.get(link).status == 403)
      }
      var later = NewNotification.logo(to: "alice")
      later.notBefore = Date(timeIntervalSinceNow: 3600)
      let held = try await shop.create(later).id
      let link = try server.links(of: held, user: "shop")["original"] ?? ""
      #expect(try server.get(link).status == 403)
    }
  }

  @Test func `a browser runs nothing of an answer, and shows what is passive`() async throws {
    let types = ["text/xsl", "text/javascript1.5", "message/rfc822", "text/plain"]
    try await RunningServer.lend { scratch in
      try scratch.drop(
        Array(
          """
          #!/bin/sh
          case $RICH_PAYLOAD in *once) echo 'Cache-Control: no-store';; esac
          printf 'Content-Disposition: inline\\nLink: <x>; rel=preload\\nContent-Type: %s\\n\\nx' "${RICH_PAYLOAD% *}"

          """.utf8), as: "plugins/any/any", executable: true)
    } to: { server in
      let shop = server.client("shop")
      for type in types {
        for payload in [type, "\(type) once"] {
          let id = try await shop.create(
            NewNotification("m", richType: "any", payload: payload, to: .users(["alice"]))
          ).id
          let link = try server.links(of: id, user: "shop")["original"] ?? ""
          for _ in 0..<2 {
            let api = try server.get(
              "/api/notifications/\(id)", RunningServer.credentials("alice"))
            let open = try server.get(link)
            #expect(api.fields["cross-origin-resource-policy"] == "same-origin")
            #expect(open.fields["cross-origin-resource-policy"] == "cross-origin")
            for answer in [api, open] {
              #expect(answer.status == 200, "\(answer.text)")
              #expect(answer.fields["content-security-policy"] == "default-src 'none'; sandbox")
              #expect(answer.fields["x-content-type-options"] == "nosniff")
              #expect(answer.fields["link"] == nil)
              let kind = type == "text/plain" ? "inline" : "attachment"
              // An answer that is not kept has no name, and a passive one then no such field.
              let disposition = answer.fields["content-disposition"] ?? "inline"
              #expect(disposition.hasPrefix(kind), "\(payload)")
            }
          }
        }
      }
    }
  }
}
