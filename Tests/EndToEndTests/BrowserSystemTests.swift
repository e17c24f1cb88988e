import Foundation
import RichPushClient
import Testing

/// Debian's Chromium, headless, on pages of another origin than the server's.
@Suite(.timeLimit(.minutes(5))) struct BrowserSystemTests {
  /// The document of a page once its resources have loaded or failed, as HTML text.
  static func document(_ address: String, _ flags: String...) async throws -> String {
    let program = "/usr/bin/chromium"
    try #require(
      FileManager.default.isExecutableFile(atPath: program), "make test-system installs chromium")
    let profile = try Scratch()
    let browser = try Child(
      program,
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--timeout=100000",
        "--user-data-dir=\(profile.folder.path)", "--dump-dom",
      ] + flags + [address], environment: ["HOME": profile.folder.path])
    // A frame that became a download keeps it from ending after it has printed the document.
    defer { browser.killAll() }
    var lines: [String] = []
    for await line in browser.lines {
      lines.append(line)
      if line.contains("</html>") { break }
    }
    return lines.joined(separator: "\n")
  }

  /// A rich type that serves the sample picture, or a page with a script, as the type in the payload.
  private static let plugin = """
    #!/bin/sh
    printf 'Content-Type: %s\\n\\n' "$RICH_PAYLOAD"
    case $RICH_PAYLOAD in
      text/*) echo '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>shown</p>
        <script>parent.postMessage("ran", "*")</script></body></html>' ;;
      *) cat "${0%/*}/logo.png" ;;
    esac

    """

  @Test func `an attachment is shown in a page, and a script in opened media does not run`()
    async throws
  {
    try await RunningServer.lend { scratch in
      try scratch.drop(Array(Self.plugin.utf8), as: "plugins/any/any", executable: true)
      try scratch.drop(Package.bytes("assets/img/logo.png"), as: "plugins/any/logo.png")
    } to: { server in
      let shop = server.client("shop")
      func link(_ type: String) async throws -> String {
        let notification = NewNotification("m", richType: "any", payload: type, to: .users(["al"]))
        let id = try await shop.create(notification).id
        let path = try #require(try server.links(of: id, user: "shop")["original"])
        return "http://127.0.0.1:\(server.port)\(path)".replacing("&", with: "&amp;")
      }
      let attachment = try await link("image/x-unheard-of")
      let document = try await link("text/xsl")
      let site = try LocalSite { visitor in
        visitor.send(
          """
          HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<link rel="icon" href="data:,"><body>
          <img src="\(attachment)" onload="document.body.append(' width ' + naturalWidth)"
            onerror="document.body.append(' broken')">
          <script>onmessage = event => document.body.append(' ' + event.data)</script>
          <iframe src="\(document)"></iframe>
          """)
      }
      let page = try await Self.document("http://\(site.address)/")
      #expect(page.contains(" width 512"), "\(page)")
      #expect(!page.contains(" ran"), "\(page)")
    }
  }

  @Test func `an app gets the bytes of an attachment as those of any other media`() async throws {
    try await RunningServer.lend { scratch in
      try scratch.drop(Array(Self.plugin.utf8), as: "plugins/any/any", executable: true)
      try scratch.drop(Package.bytes("assets/img/logo.png"), as: "plugins/any/logo.png")
    } to: { server in
      let notification = NewNotification(
        "m", richType: "any", payload: "image/x-unheard-of", to: .users(["alice"]))
      let id = try await server.client("shop").create(notification).id
      let picture = try Package.bytes("assets/img/logo.png")
      let tutorial = try TutorialClient(port: server.port, user: "alice").fetch(id)
      #expect(tutorial.status == 200 && tutorial.body == picture)
      #expect(tutorial.fields["content-disposition"]?.hasPrefix("attachment") == true)
      // A notification service extension downloads it to a file, whose name decides what iOS shows.
      let media = try await server.client("alice").media(id)
      #expect(media.contentType == "image/x-unheard-of" && Array(media.bytes) == picture)
    }
  }
}
