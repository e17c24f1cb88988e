import WebApp
import FoundationEssentials
import HTTP
import PageParts
import RichPushAPI

/// `/app/`: the recipients' app, whose files are in the module `WebApp`.
///
/// The files need no password; what they show comes from the API.
struct AppRoutes: Sendable {
  /// Only the app's own files and requests to this server; a picture is shown from its bytes.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; connect-src 'self'; "
    + "img-src 'self' blob:; media-src 'self' blob:; manifest-src 'self'; base-uri 'none'; "
    + "form-action 'none'; frame-ancestors 'none'"
  /// The files that a browser has registered as, or loads into, a worker of the page `/push/` of earlier versions.
  private static let workerFiles: Set<String> = [
    "worker.js", "client.js", "device.js", "offline.js",
  ]

  /// The scripts that pages of other sites load.
  private static let sharedFiles: Set<String> = ["client.js", "subscribe.js"]

  /// The files in which words stand for what only the server knows.
  private static let templates: Set<String> = ["index.html", "worker.js"]

  private let settings: AppSettings
  private let files: EmbeddedFiles

  init(_ settings: AppSettings) {
    self.settings = settings
    var files = (Array(AppFiles.all) + Array(PagePartFiles.all)).map {
      (name: $0.key, bytes: $0.value)
    }
    if let icon = settings.icon {
      for index in files.indices where files[index].name.hasSuffix(".png") {
        files[index].bytes = icon
      }
    }
    let version = EmbeddedFiles.tag(
      of: files.flatMap { Array($0.name.utf8) + $0.bytes }
        + Array("\(settings.name)\n\(settings.colour)".utf8))
    let words = [
      "__VERSION__": String(version.prefix(16)), "__COLOUR__": settings.colour,
      "__NAME__": settings.name.escapedForHTML,
    ]
    for index in files.indices where Self.templates.contains(files[index].name) {
      let text = String(decoding: files[index].bytes, as: UTF8.self)
      files[index].bytes = Array(words.reduce(text) { $0.replacing($1.key, with: $1.value) }.utf8)
    }
    self.files = EmbeddedFiles(files, policy: Self.policy)
  }

  /// The routes of the app and of the workers that it takes over from.
  var routes: [Route] {
    [
      // The paths are relative, so that they also work behind a proxy with a path.
      Route("GET", "/app", for: .anybody) { _ in .empty(308, fields: ["Location": "app/"]) },
      Route("GET", "/app/", for: .anybody) {
        try files.response(for: "index.html", to: $0.request)
      },
      Route("GET", "/app/{}", for: .anybody) {
        let name = $0.parameters[0]
        if name == "manifest.webmanifest" { return try manifest($0) }
        var response = try files.response(for: name, to: $0.request)
        if Self.sharedFiles.contains(name) { response.fields.allowCrossOriginEmbedding() }
        return response
      },
      Route("GET", "/push", for: .anybody) { _ in .empty(308, fields: ["Location": "app/"]) },
      Route("GET", "/push/", for: .anybody) { _ in .empty(308, fields: ["Location": "../app/"]) },
      // A worker whose address leads elsewhere is never updated.
      Route("GET", "/push/{}", for: .anybody) {
        guard Self.workerFiles.contains($0.parameters[0]) else {
          throw ServiceError(.notFound, "There is no file of this name; the page is /app/ now.")
        }
        return try files.response(for: $0.parameters[0], to: $0.request)
      },
    ]
  }

  /// The manifest (W3C Web Application Manifest); with `?pair=` the app starts with that code once it is installed.
  private func manifest(_ context: RequestContext) throws -> Response {
    let code = try context.query("pair")["pair"]
    if let code, code.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) == nil {
      throw ServiceError(.invalidRequest, "The code in pair is none of this server.")
    }
    let start = code.map { "./?pair=\($0)" } ?? "./"
    let manifest = AppManifest(
      settings, start: start, isGerman: context.languages.first?.hasPrefix("de") == true)
    var response = Response.json(200, manifest)
    response.fields["Content-Type"] = "application/manifest+json"
    // A code is for one browser, and for minutes.
    response.fields["Cache-Control"] = code == nil ? "no-cache" : "no-store"
    response.fields["Referrer-Policy"] = "no-referrer"
    return response
  }
}

/// The members of the manifest.
private struct AppManifest: Encodable {
  struct Icon: Encodable {
    let src: String
    let sizes: String
    let type = "image/png"
    let purpose: String
  }
  struct Shortcut: Encodable {
    let name: String
    let url: String
  }

  // It stays the same app when anything else changes.
  let id = "/app/"
  let name: String
  let short_name: String
  let start_url: String
  let scope = "./"
  let display = "standalone"
  let theme_color: String
  let background_color = "#ffffff"
  let icons: [Icon]
  let shortcuts: [Shortcut]

  init(_ settings: AppSettings, start: String, isGerman: Bool) {
    (name, short_name, start_url) = (settings.name, String(settings.name.prefix(12)), start)
    theme_color = settings.colour
    let side = settings.icon.map { _ in "\(settings.iconSide)x\(settings.iconSide)" }
    icons = [
      Icon(src: "icon-192.png", sizes: side ?? "192x192", purpose: "any"),
      Icon(src: "icon-512.png", sizes: side ?? "512x512", purpose: "any"),
      Icon(src: "icon-maskable-512.png", sizes: side ?? "512x512", purpose: "maskable"),
    ]
    shortcuts = [
      Shortcut(name: isGerman ? "Ungelesen" : "Unread", url: "./#unread"),
      Shortcut(name: isGerman ? "Einstellungen" : "Settings", url: "./#settings"),
    ]
  }
}

extension String {
  /// The text as content of an element or an attribute.
  var escapedForHTML: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }
}
