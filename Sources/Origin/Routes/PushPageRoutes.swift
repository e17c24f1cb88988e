import HTTP

/// `/push/`: a page with which browsers register for pushes, and its service worker.
///
/// The files are in the folder `PushPage`. They use the API like any other client.
struct PushPageRoutes: Sendable {
  /// Only the page's own files and requests to this server; a picture is shown from its bytes.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; connect-src 'self'; "
    + "img-src 'self' blob:; media-src blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    + "frame-ancestors 'none'"

  private let files = EmbeddedFiles(
    [
      "index.html": PackageResources.index_html, "style.css": PackageResources.style_css,
      "device.js": PackageResources.device_js, "page.js": PackageResources.page_js,
      "inbox.js": PackageResources.inbox_js, "worker.js": PackageResources.worker_js,
      "manifest.webmanifest": PackageResources.manifest_webmanifest,
      "icon.svg": PackageResources.icon_svg, "icon.png": PackageResources.icon_png,
    ], policy: policy)

  /// The routes of the files.
  var routes: [Route] {
    [
      // The names in the page are relative, so that it also works behind a proxy with a path.
      Route("GET", "/push", for: .anybody) { _ in
        .empty(308, fields: ["Location": "push/"])
      },
      Route("GET", "/push/", for: .anybody) {
        try files.response(for: "index.html", to: $0.request)
      },
      Route("GET", "/push/{}", for: .anybody) {
        try files.response(for: $0.parameters[0], to: $0.request)
      },
    ]
  }
}
