import Imaging
import MediaTypes
import PluginKit
import Primitives

/// The rich type `img`: sends any picture as a device needs it.
@main
struct ImagePlugin {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "render" {
      ImageRenderCommand.run(Array(arguments.dropFirst()))
    } else {
      serve(respond)
    }
  }

  /// Answers `validate` and `render`.
  @Sendable private static func respond(to request: PluginRequest) throws -> PluginResponse {
    guard let asset = request.asset else {
      throw Refusal("The payload of an img is the name of a picture in the asset folder.")
    }
    do {
      let source = try SourceFile(path: asset.path)
      if request.verb == .validate { return .json(try Facts(source).json) }
      let rendition = try PictureRenderer(Options(request)).render(source)
      guard case .original = rendition.content else {
        return .document(rendition.bytes(from: source), type: rendition.mediaType)
      }
      return .asset(type: rendition.mediaType)
    } catch {
      throw Refusal(error.naming(asset.path))
    }
  }
}

extension Options {
  /// The options of a request.
  fileprivate init(_ request: PluginRequest) throws(ImagingError) {
    self.init()
    try set("profile", request.profile)
    try set("fit", request.fit)
    try set("focus", request.query["focus"])
    try set("linear", request.query["linear"])
    (width, height, maximumBytes) = (request.width, request.height, request.maxBytes)
    if let dpr = request.dpr { try set("dpr", "\(dpr)") }
  }
}

extension Facts {
  /// The response to `validate`.
  fileprivate var json: String {
    let quoted = JSONText.quoted
    return JSONText.object([
      "contentType": quoted(kind.mediaType), "width": "\(size.width)", "height": "\(size.height)",
      "colour": quoted("\(colour)"), "transparent": "\(isTransparent)",
      "animated": "\(isAnimated)", "thumbHash": thumbHash.map { quoted($0.text) },
      "advice": advice.isEmpty ? nil : quoted(advice.joined(separator: " ")),
    ])
  }
}

extension ImagingError {
  /// For a file of another format, the error that says what it is and what to do.
  func naming(_ path: String) -> ImagingError {
    guard code == .unsupported, let file = OpenFile(path) else { return self }
    return ImagingError(code, FileKind(file).refusal(accepting: ["image/*"]), detail: detail)
  }
}

extension Refusal {
  fileprivate init(_ error: ImagingError) {
    let status =
      switch error.code {
      case .unreadable: 503
      case .unsupported, .unsupportedContent: 415
      case .damaged, .tooLarge, .invalidOption, .unreachable: 422
      }
    self.init(status: status, error.reason, detail: error.detail)
  }
}
