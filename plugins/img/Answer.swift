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
      throw Refusal(error.naming(asset.path))
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
    let status =
      switch error.code {
      case .unreadable: 503
      case .unsupported: 415
      case .damaged, .tooLarge, .invalidOption, .unreachable: 422
      }
    self.init(status: status, error.reason, detail: error.detail)
  }
}
