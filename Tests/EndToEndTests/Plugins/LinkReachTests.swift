import Foundation
import Testing

/// The url plugin must not become a way into the operator's own network.
@Suite struct LinkReachTests {
  @Test(arguments: [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.1", "0x7f000001",
    "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192",
    "192.168.1.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "localhost",
    "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]", "[::7f00:1]",
    "[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2001::1]", "[2001:db8::1]",
    "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[3fff::1]",
  ])
  func `connects to no address that is not public`(host: String) throws {
    let folder = try OpenedFolder(reach: [])
    let run = try PluginRun(
      "url", verb: "validate", payload: "http://\(host)/", folder: folder.url)
    let advice = try #require(run.json["advice"] as? [String])
    #expect(advice.contains { $0.contains("an address that is not public") })
  }

  @Test func `opens the very host and port that the operator named and no other`() throws {
    let site = try LocalSite { visitor in visitor.send("HTTP/1.1 204 No Content\r\n\r\n") }
    for reach in [[], ["127.0.0.1"], ["127.0.0.1:80"], ["localhost:\(site.port)"]] {
      let folder = try OpenedFolder(reach: reach)
      let run = try PluginRun(
        "url", verb: "validate", payload: "http://\(site.address)/", folder: folder.url)
      #expect(try run.json["advice"] != nil)
    }
    #expect(site.visited.isEmpty)
  }

  @Test func `checks again where a redirect leads`() throws {
    let inner = try LocalSite { visitor in visitor.send("HTTP/1.1 200 OK\r\n\r\nsecret") }
    let site = try LocalSite { visitor in
      visitor.send("HTTP/1.1 302 Found\r\nLocation: http://\(inner.address)/admin\r\n\r\n")
    }
    let folder = try OpenedFolder(reach: [site.address])
    let run = try PluginRun(
      "url", verb: "validate", payload: "http://\(site.address)/", folder: folder.url)
    #expect(site.visited == ["/"])
    #expect(inner.visited.isEmpty)
    #expect(!run.text.contains("secret"))
  }

  @Test func `checks again where a picture is`() throws {
    let inner = try LocalSite { visitor in visitor.send("HTTP/1.1 200 OK\r\n\r\nGIF89a") }
    let site = try LocalSite { visitor in
      visitor.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
          + "<meta property=og:image content=http://\(inner.address)/x.gif>")
    }
    let folder = try OpenedFolder(reach: [site.address])
    let run = try PluginRun(
      "url", verb: "render", payload: "http://\(site.address)/", query: "view=picture",
      folder: folder.url)
    #expect(run.status == 503)
    #expect(inner.visited.isEmpty)
  }

  @Test func `goes to no port that web pages are not served on`() throws {
    let site = try LocalSite { visitor in visitor.send("HTTP/1.1 204 No Content\r\n\r\n") }
    for link in ["http://example.com:22/", "http://example.com:6379/", "http://\(site.address)/"] {
      let folder = try OpenedFolder(reach: [])
      let run = try PluginRun("url", verb: "validate", payload: link, folder: folder.url)
      let advice = try #require(run.json["advice"] as? [String])
      #expect(
        advice.contains { $0.contains("is not one that web pages are served on") }, "\(advice)")
    }
    #expect(site.visited.isEmpty)
  }

  @Test func `spends no more time on a page than the publisher has`() throws {
    let site = try LocalSite { visitor in
      guard visitor.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n") else { return }
      while visitor.send("x") { usleep(50_000) }
    }
    let folder = try OpenedFolder(reach: [site.address])
    let run = try PluginRun(
      "url", verb: "validate", payload: "http://\(site.address)/", folder: folder.url,
      variables: ["RICH_DEADLINE_MS": "1800"])
    let advice = try #require(run.json["advice"] as? [String])
    #expect(advice.contains { $0.contains("Timeout") }, "\(advice)")
  }

  @Test func `stays silent without the operator's leave`() throws {
    let site = try LocalSite { visitor in visitor.send("HTTP/1.1 204 No Content\r\n\r\n") }
    let folder = try OpenedFolder(reach: [site.address])
    let run = try PluginRun(
      "url", verb: "render", payload: "http://\(site.address)/", folder: folder.url,
      hasNetwork: false)
    #expect(run.status == 200)
    #expect(site.visited.isEmpty)
  }
}
