import Foundation
import Media
import TestSupport
import Testing

@testable import HTTP
@testable import Origin

/// The recipients' app, `/app/`, and what leads to it.
@Suite(.timeLimit(.minutes(1))) struct AppRoutesTests {
  private func withApp(
    _ change: (inout OriginConfiguration) -> Void = { _ in },
    _ body: (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.test(
      prepare: { configuration, _ in
        configuration.app = AppSettings()
        change(&configuration)
      }, body)
  }

  @Test func `serves its files to everybody, with a policy that allows nothing else`() async throws
  {
    try await withApp { server in
      let redirect = try await server.execute("GET", "/app")
      #expect(redirect.status == 308 && redirect.fields["Location"] == "app/")
      let page = try await server.execute("GET", "/app/")
      #expect(page.status == 200 && page.fields["Content-Type"] == "text/html; charset=utf-8")
      let policy = try #require(page.fields["Content-Security-Policy"])
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
      #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"))
      #expect(policy.contains("manifest-src 'self'") && policy.contains("img-src 'self' blob:"))
      #expect(!page.text.contains("<script>") && !page.text.contains("onclick"))
      #expect(!page.text.contains("style="))
      for match in page.text.matches(of: /(?:src|href)="([a-z0-9.-]+)"/) {
        #expect(try await server.status("GET", "/app/\(match.1)") == 200, "\(match.1)")
      }
      for path in ["/app/none.js", "/app/%2e%2e", "/app/worker.js/"] {
        #expect(try await server.status("GET", path) == 404)
      }
      #expect(try await server.status("POST", "/app/") == 405)
    }
  }

  @Test func `the shell that the worker keeps is all there`() async throws {
    try await withApp { server in
      let worker = try await server.execute("GET", "/app/worker.js").text
      let list = try #require(worker.firstMatch(of: /const files = \[([^\]]*)\]/)?.1)
      let names = list.matches(of: /"([^"]+)"/).map { String($0.1) }
      #expect(names.count > 10)
      for name in names {
        #expect(
          try await server.status("GET", "/app/" + name.replacing("./", with: "")) == 200, "\(name)"
        )
      }
      #expect(!worker.contains("__VERSION__"))
    }
  }

  @Test func `another name, colour or file is another shell`() async throws {
    func worker(_ change: @escaping @Sendable (inout OriginConfiguration) -> Void) async throws
      -> String
    {
      var text = ""
      try await withApp(change) { server in
        text = try await server.execute("GET", "/app/worker.js").text
      }
      return text
    }
    let plain = try await worker { _ in }
    #expect(try await worker { _ in } == plain)
    #expect(try await worker { $0.app?.colour = "#aa0000" } != plain)
  }

  @Test func `a browser that has a file gets 304`() async throws {
    try await withApp { server in
      let file = try await server.execute("GET", "/app/main.js")
      let etag = try #require(file.fields["ETag"])
      #expect(file.fields["Cache-Control"] == "no-cache")
      let again = try await server.execute(
        "GET", "/app/main.js", fields: ["If-None-Match": etag])
      #expect(again.status == 304 && again.text == "" && again.fields["ETag"] == etag)
      let other = try await server.execute(
        "GET", "/app/main.js", fields: ["If-None-Match": "\"0\""])
      #expect(other.status == 200)
    }
  }

  @Test func `who takes gzip gets it, with a tag of its own`() async throws {
    try await withApp { server in
      let plain = try await server.execute("GET", "/app/start.js")
      #expect(plain.fields["Content-Encoding"] == nil && plain.fields["Vary"] == "Accept-Encoding")
      for accepted in ["gzip, deflate, br", "br;q=1.0, GZIP;q=0.5"] {
        let packed = try await server.execute(
          "GET", "/app/start.js", fields: ["Accept-Encoding": accepted])
        #expect(packed.fields["Content-Encoding"] == "gzip")
        #expect(packed.fields["Content-Type"] == plain.fields["Content-Type"])
        #expect(packed.bytes.count < plain.bytes.count / 2)
        // Browsers read it in the app's own tests.
        #expect(packed.bytes.starts(with: [0x1F, 0x8B]))
        let etag = try #require(packed.fields["ETag"])
        #expect(etag != plain.fields["ETag"])
        let again = try await server.execute(
          "GET", "/app/start.js", fields: ["Accept-Encoding": accepted, "If-None-Match": etag])
        #expect(again.status == 304 && again.fields["Content-Encoding"] == nil)
      }
      for refused in ["identity", "gzip;q=0", "gzip; q=0.0", "br"] {
        let answer = try await server.execute(
          "GET", "/app/start.js", fields: ["Accept-Encoding": refused])
        #expect(answer.fields["Content-Encoding"] == nil, "\(refused)")
      }
      let icon = try await server.execute(
        "GET", "/app/icon-192.png", fields: ["Accept-Encoding": "gzip"])
      #expect(icon.fields["Content-Encoding"] == nil)
    }
  }

  @Test func `the manifest has all that an installation needs`() async throws {
    try await withApp { server in
      let manifest = try await server.execute("GET", "/app/manifest.webmanifest")
      #expect(manifest.fields["Content-Type"] == "application/manifest+json")
      #expect(manifest.json["id"] as? String == "/app/")
      #expect(manifest.json["display"] as? String == "standalone")
      #expect(manifest.json["start_url"] as? String == "./")
      let icons = manifest.objects("icons")
      #expect(icons.compactMap { $0["purpose"] as? String } == ["any", "any", "maskable"])
      for icon in icons.compactMap({ $0["src"] as? String }) {
        let picture = try await server.execute("GET", "/app/" + icon)
        #expect(picture.status == 200 && picture.fields["Content-Type"] == "image/png")
      }
      let german = try await server.execute(
        "GET", "/app/manifest.webmanifest", fields: ["Accept-Language": "de-CH,en;q=0.5"])
      #expect(
        german.objects("shortcuts").compactMap { $0["name"] as? String }
          == ["Ungelesen", "Einstellungen"])
    }
  }

  @Test func `a code travels in the start address, and no cache keeps it`() async throws {
    try await withApp { server in
      let path = "/app/manifest.webmanifest?pair="
      let code = "AbCdEfGhIjKlMnOpQrStU-"
      let manifest = try await server.execute("GET", path + code)
      #expect(manifest.json["start_url"] as? String == "./?pair=\(code)")
      #expect(manifest.json["id"] as? String == "/app/")
      #expect(manifest.fields["Cache-Control"] == "no-store")
      for wrong in ["", "a%22b", String(repeating: "a", count: 65)] {
        #expect(try await server.status("GET", path + wrong) == 400, "\(wrong)")
      }
    }
  }

  @Test func `the operator's name, colour, icon and subjects are the app's`() async throws {
    let icon = square
    try await TestServer.test(
      prepare: { configuration, folder in
        let path = folder.path + "/icon.png"
        try Data(icon).write(to: URL(filePath: path))
        var app = AppSettings()
        (app.name, app.colour) = ("Tom & <b>", "#00aa77")
        try app.useIcon(at: path)
        configuration.app = app
        try configuration.offer(["news=News", "offers=Special offers"])
      }
    ) { server in
      let described = try await server.execute("GET", "/api/app")
      #expect(described.json["name"] as? String == "Tom & <b>")
      #expect(described.json["colour"] as? String == "#00aa77")
      #expect(
        described.objects("subjects").map { "\($0["tag"] ?? "")=\($0["name"] ?? "")" }
          == ["news=News", "offers=Special offers"])
      #expect(try await server.execute("GET", "/app/").text.contains("<b>") == false)
      let manifest = try await server.execute("GET", "/app/manifest.webmanifest")
      #expect(manifest.json["name"] as? String == "Tom & <b>")
      #expect(manifest.json["theme_color"] as? String == "#00aa77")
      #expect(try await server.execute("GET", "/app/icon-192.png").bytes == icon)
      #expect(try await server.status("GET", "/api/app?x=1") == 400)
    }
  }

  @Test(arguments: [
    ("name", ""), ("name", String(repeating: "a", count: 41)), ("colour", "red"),
    ("colour", "#12345"), ("colour", "#00aa77; }"),
  ])
  func `a name or a colour that no page could show is refused`(of: String, value: String) {
    var app = AppSettings()
    if of == "name" { app.name = value } else { app.colour = value }
    #expect(throws: OperatorError.self) { try app.check() }
  }

  @Test(arguments: ["News", "username:bob=Bob", "a b=c", "news=", "news=News,news=Again"])
  func `a subject that is no tag, has no name, or comes twice is refused`(list: String) throws {
    var configuration = try OriginConfiguration()
    let subjects = list.split(separator: ",").map(String.init)
    if list == "News" {
      try configuration.offer(subjects)
      #expect(configuration.subjects.map(\.name) == ["News"])
    } else {
      #expect(throws: OperatorError.self) { try configuration.offer(subjects) }
    }
  }

  @Test func `an icon that is no square PNG of 512 pixels is refused`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var small = square
    small.replaceSubrange(16..<24, with: [0, 0, 1, 0, 0, 0, 1, 0])
    var oblong = square
    oblong.replaceSubrange(20..<24, with: [0, 0, 1, 0])
    for (index, bytes) in [[], Array("not a picture".utf8), small, oblong].enumerated() {
      let file = folder.appending(path: "\(index).png")
      try Data(bytes).write(to: file)
      var app = AppSettings()
      #expect(throws: OperatorError.self) { try app.useIcon(at: file.path) }
    }
    var app = AppSettings()
    #expect(throws: OperatorError.self) { try app.useIcon(at: "/none.png") }
  }

  @Test func `the root leads to the app, and to the console who is signed in there`() async throws {
    try await TestServer.test(
      prepare: { configuration, _ in
        (configuration.app, configuration.hasConsole) = (AppSettings(), true)
        configuration.isDemo = true
      }
    ) { server in
      let plain = try await server.execute("GET", "/")
      #expect(plain.status == 303 && plain.fields["Location"] == "app/")
      let signedIn = try await server.execute(
        "POST", "/api/session", body: #"{"username":"shop","password":"shop"}"#)
      let cookie = try #require(signedIn.fields["Set-Cookie"]?.split(separator: ";").first)
      let atHome = try await server.execute("GET", "/", fields: ["Cookie": String(cookie)])
      #expect(atHome.fields["Location"] == "console/")
      let name = try #require(cookie.split(separator: "=").first)
      let ended = try await server.execute("GET", "/", fields: ["Cookie": "\(name)=wrong"])
      #expect(ended.fields["Location"] == "app/")
    }
  }

  @Test func `without the app the root leads to the console, and without both nowhere`()
    async throws
  {
    for hasConsole in [true, false] {
      try await TestServer.test(
        prepare: { configuration, _ in
          (configuration.app, configuration.hasConsole) = (nil, hasConsole)
        }
      ) { server in
        let root = try await server.execute("GET", "/")
        #expect(hasConsole ? root.fields["Location"] == "console/" : root.status == 404)
        for path in ["/app", "/app/", "/push/worker.js"] {
          #expect(try await server.status("GET", path) == 404)
        }
      }
    }
  }

  @Test func `the page of earlier versions leads to the app, and its worker becomes the app's`()
    async throws
  {
    try await withApp { server in
      for (path, location) in [("/push", "app/"), ("/push/", "../app/")] {
        let redirect = try await server.execute("GET", path)
        #expect(redirect.status == 308 && redirect.fields["Location"] == location)
      }
      // What the worker loads it loads from beside itself; a redirect would keep the old one for ever.
      let worker = try await server.execute("GET", "/push/worker.js")
      #expect(worker.status == 200)
      #expect(worker.text == (try await server.execute("GET", "/app/worker.js").text))
      for match in worker.text.matches(of: /importScripts\(([^)]*)\)/) {
        for file in match.1.matches(of: /"([^"]+)"/) {
          #expect(try await server.status("GET", "/push/\(file.1)") == 200, "\(file.1)")
        }
      }
      #expect(try await server.status("GET", "/push/page.js") == 404)
    }
  }
}

/// A file that begins as a PNG of 512 × 512 pixels.
private let square: [UInt8] =
  [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 2, 0, 0, 0, 2, 0, 8, 6]
  + [UInt8](repeating: 0, count: 15)
