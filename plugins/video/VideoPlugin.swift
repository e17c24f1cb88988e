import Imaging
import PluginKit

/// The rich type `video`: sends a film as phones play it, without private metadata, or a picture of it.
///
/// All work is done by Debian's `ffprobe` and `ffmpeg`, within the limits and the sandbox of this plugin.
@main
struct VideoPlugin {
  static func main() {
    serve { request in
      guard let asset = request.asset else {
        throw Refusal("The payload of a video is the name of a film in the asset folder.")
      }
      let film = try Film(asset.path, bytes: asset.size)
      if request.verb == .validate { return .json(film.facts) }
      switch try view(request) {
      case .film:
        let path = request.temporaryFolder + "/film.mp4"
        try film.send(to: path)
        return .file(path, type: "video/mp4")
      case .poster:
        let path = request.temporaryFolder + "/poster.jpg"
        try film.drawPoster(to: path)
        return try poster(path, request)
      }
    }
  }

  /// What of a film is sent.
  private enum View: String {
    case film, poster
  }

  /// Like an animation, a film is sent to iPhones and browsers, and a picture of it to other devices.
  private static func view(_ request: PluginRequest) throws -> View {
    switch request.query["view"] {
    case nil, "":
      let plays = request.profile.map { ["ios", "web"].contains($0) } ?? true
      return plays ? .film : .poster
    case .some(let name):
      guard let view = View(rawValue: name) else {
        throw Refusal("There is no view \(name) of a film; there are film and poster.")
      }
      return view
    }
  }

  private static func poster(_ path: String, _ request: PluginRequest) throws -> PluginResponse {
    do {
      var options = Options()
      try options.set("profile", request.profile)
      try options.set("fit", request.fit)
      try options.set("dpr", request.dpr.map { "\($0)" })
      (options.width, options.height) = (request.width, request.height)
      options.maximumBytes = request.maxBytes
      let source = try SourceFile(path: path)
      let rendition = try PictureRenderer(options).render(source)
      return .document(rendition.bytes(from: source), type: rendition.mediaType)
    } catch { throw Refusal(error.reason, detail: error.detail) }
  }
}
