import Imaging
import PluginKit

extension ImagePlugin {
  /// Answers `validate` and `render`.
  @Sendable
  static func answer(_ request: PluginRequest) throws -> PluginResponse {
    guard let asset = request.asset else {
      throw Refusal("The payload of an img is the name of a picture in the asset folder.")
    }
    do {
      let source = try SourceFile(path: asset.path)
      return request.verb == .validate
        ? try validate(source) : try render(source, Options(request))
    } catch {
      throw Refusal(error)
    }
  }

  private static func validate(_ source: SourceFile) throws(ImagingError) -> PluginResponse {
    .json(try Facts(source).json)
  }

  private static func render(
    _ source: SourceFile, _ options: Options
  ) throws(ImagingError) -> PluginResponse {
    let rendition = try Recipe(options).render(source)
    guard case .original = rendition.content else {
      return .document(rendition.bytes(from: source), type: rendition.mediaType)
    }
    return .asset(type: rendition.mediaType)
  }
}

extension Refusal {
  /// The error as the caller reads it.
  fileprivate init(_ error: ImagingError) {
    switch error.code {
    case .unreadable: self.init(status: 503, error.reason)
    case .unsupported: self.init(status: 415, error.reason)
    case .damaged, .tooLarge, .invalidOption, .unreachable: self.init(status: 422, error.reason)
    }
  }
}
