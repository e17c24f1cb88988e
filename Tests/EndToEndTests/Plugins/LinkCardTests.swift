import Foundation
import Testing

@Suite struct LinkCardTests {
  private static let head = """
    HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n
    """

  @Test func `makes a card of what a page says about itself`() throws {
    let site = try LocalSite { visitor in
      visitor.send(
        Self.head + """
          <!doctype html><html><head><!-- <title>no</title> --><script>"<title>no</title>"</script>
          <title>Plain &amp; simple</title><meta name=description content='Words &#8211; two'>
          <META PROPERTY="og:title" CONTENT="Tea\n at \u{1} five"/><meta property=og:site_name content=Tea>
          <meta property="og:image" content="/tea.png"></head><body><title>late</title>
          """)
    }
    let card = try Self.visit(site, "/page").json
    #expect(card["title"] as? String == "Tea at five")
    #expect(card["description"] as? String == "Words – two")
    #expect(card["site"] as? String == "Tea")
    #expect(card["picture"] as? String == "?view=picture")
    #expect(site.visited == ["/page"])
  }

  @Test func `lets the publisher's own title stand`() throws {
    let site = try LocalSite { visitor in visitor.send(Self.head + "<title>Theirs</title>") }
    let folder = try OpenedFolder(reach: [site.address])
    let payload = #"{"url":"http://\#(site.address)/","title":"Ours"}"#
    let run = try PluginRun("url", verb: "render", payload: payload, folder: folder.url)
    #expect(try run.json["title"] as? String == "Ours")
  }

  @Test func `reads a page in its own character set`() throws {
    let site = try LocalSite { visitor in
      visitor.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
          + "<meta charset=iso-8859-1><title>Caf\u{E9}</title>")
    }
    #expect(try Self.visit(site, "/").json["title"] as? String == "Café")
  }

  @Test func `follows redirects and says when there are too many`() throws {
    let site = try LocalSite { visitor in
      switch visitor.path {
      case "/": visitor.send("HTTP/1.1 302 Found\r\nLocation: here?x\r\n\r\n")
      case "/here?x": visitor.send(Self.head + "<title>Arrived</title>")
      default: visitor.send("HTTP/1.1 301 Moved\r\nLocation: /again\r\n\r\n")
      }
    }
    #expect(try Self.visit(site, "/").json["title"] as? String == "Arrived")
    #expect(try Self.advice(site, "/again").contains("redirects more than 5 times"))
    #expect(site.visited.filter { $0 == "/again" }.count == 6)
  }

  @Test func `gives the page's picture by what its bytes are`() throws {
    let png = "\u{89}PNG\r\n\u{1A}\n\0\0\0\rIHDR"
    let site = try LocalSite { visitor in
      switch visitor.path {
      case "/": visitor.send(Self.head + "<meta property=og:image content=/p>")
      case "/p": visitor.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n\(png)")
      case "/svg": visitor.send(Self.head + "<meta property=og:image content=/evil>")
      default:
        visitor.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n<svg onload=alert(1)>")
      }
    }
    let run = try Self.visit(site, "/", query: "view=picture")
    #expect(run.fields["Content-Type"] == "image/png")
    #expect(run.body == Data(png.unicodeScalars.map { UInt8($0.value) }))
    let refused = try Self.visit(site, "/svg", query: "view=picture")
    #expect(refused.status == 503)
    #expect(refused.text.contains("image/svg+xml"))
  }

  @Test func `keeps a title short however it is made`() throws {
    let accents = String(repeating: "&#769;", count: 5000)
    let site = try LocalSite { visitor in visitor.send(Self.head + "<title>a\(accents)</title>") }
    let title = try #require(Self.visit(site, "/").json["title"] as? String)
    #expect(title.unicodeScalars.count == 200)
    #expect(title.hasSuffix("…"))
  }

  @Test func `survives markup that makes no sense`() throws {
    let pieces = [
      "<", ">", "=", "\"", "'", "/", "<!--", "-->", "<meta ", "<title>", "</title>", "<script>",
      "content=", "property=og:title ", "&", "&#", "&#x110000;", "&#xD800;", "\u{0}", " ", "x",
    ]
    var seed = 1
    let page = (0..<5000).map { _ in
      seed = (seed * 48271) % 0x7FFF_FFFF
      return pieces[seed % pieces.count]
    }.joined()
    let site = try LocalSite { visitor in visitor.send(Self.head + page) }
    #expect(try Self.visit(site, "/").json["host"] as? String == "127.0.0.1")
  }

  @Test func `cuts a page that never ends`() throws {
    let site = try LocalSite { visitor in
      guard visitor.send(Self.head + "<title>Endless</title>") else { return }
      while visitor.send(String(repeating: "x", count: 65_536)) {}
    }
    #expect(try Self.visit(site, "/").json["title"] as? String == "Endless")
  }

  @Test func `gives up on a server that never answers`() throws {
    let site = try LocalSite { $0.waitUntilGone() }
    let run = try Self.visit(site, "/", variables: ["RICH_DEADLINE_MS": "1500"])
    let advice = try #require(run.json["advice"] as? [String])
    #expect(advice.contains { $0.contains("Timeout") })
    #expect(run.status == 200)
  }

  @Test(arguments: [
    ("/missing", "answered 404"), ("/pdf", "application/pdf, not a page"), ("/ftp", "nobody"),
  ])
  func `sends the card without the page's words when it cannot be read`(
    path: String, reason: String
  ) throws {
    let site = try LocalSite { visitor in
      switch visitor.path {
      case "/pdf": visitor.send("HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n%PDF-")
      case "/ftp": visitor.send("HTTP/1.1 302 Found\r\nLocation: ftp://example.com/\r\n\r\n")
      default: visitor.send("HTTP/1.1 404 Not Found\r\n\r\n")
      }
    }
    #expect(try Self.advice(site, path).contains(reason))
    let card = try Self.visit(site, path, verb: "render")
    #expect(card.fields["Cache-Control"] == "no-store")
    #expect(try card.json["host"] as? String == "127.0.0.1")
  }

  private static func visit(
    _ site: LocalSite, _ path: String, verb: String = "validate", query: String = "",
    variables: [String: String] = [:]
  ) throws -> PluginRun {
    let folder = try OpenedFolder(reach: [site.address])
    return try PluginRun(
      "url", verb: verb, payload: "http://\(site.address)\(path)", query: query,
      folder: folder.url, variables: variables)
  }

  private static func advice(_ site: LocalSite, _ path: String) throws -> String {
    try #require(visit(site, path).json["advice"] as? [String]).joined(separator: " ")
  }
}
