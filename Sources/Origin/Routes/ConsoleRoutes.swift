import Console
import HTTP
import PageParts

/// `/console/`: the web console, whose files are in the module `Console`, and in `PageParts`.
///
/// They need no password; what they show comes from the API.
struct ConsoleRoutes: Sendable {
  /// Only the console's own files and requests to this server; nothing inline, in no frame.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    + "media-src 'self' blob:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    + "base-uri 'none'"

  private let files = EmbeddedFiles(ConsoleFiles.all, PagePartFiles.all, policy: policy)

  /// The routes of the files.
  var routes: [Route] {
    [
      // The paths are relative, so that they also work behind a proxy with a path.
      Route("GET", "/console", for: .anybody) { _ in
        .empty(308, fields: ["Location": "console/"])
      },
      Route("GET", "/console/", for: .anybody) {
        try files.response(for: "index.html", to: $0.request)
      },
      Route("GET", "/console/{}", for: .anybody) {
        try files.response(for: $0.parameters[0], to: $0.request)
      },
    ]
  }
}
