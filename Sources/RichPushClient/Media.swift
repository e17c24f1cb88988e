#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A notification's media, in memory.
public struct Media: Sendable, Equatable {
  /// The bytes.
  public let bytes: Data
  /// The media type that the server detected, such as `image/jpeg`.
  public let contentType: String
  /// The entity tag (RFC 9110 section 8.8.3), if the server sent one.
  public let etag: String?

  /// Creates media, for an app's tests and previews.
  public init(bytes: Data, contentType: String, etag: String? = nil) {
    self.bytes = bytes
    self.contentType = contentType
    self.etag = etag
  }
}

/// A notification's media, in a temporary file.
public struct MediaFile: Sendable, Equatable {
  /// The file.
  public let url: URL
  /// The media type that the server detected, such as `image/jpeg`.
  public let contentType: String
  /// The entity tag (RFC 9110 section 8.8.3), if the server sent one.
  public let etag: String?

  init(url: URL, response: HTTPResponse) {
    self.url = url
    contentType = response.fields["content-type"] ?? "application/octet-stream"
    etag = response.fields["etag"]
  }
}

/// How a notification's media is rendered for a device.
public struct MediaOptions: Sendable, Equatable {
  /// How a picture fills a box of another aspect ratio.
  public enum Fit: String, Sendable, CaseIterable {
    /// The whole picture, inside the box.
    case contain
    /// The whole box; the rest of the picture is cropped.
    case cover
  }

  /// A profile of the server, such as `ios` or `thumb`.
  public var profile: String?
  /// The width of the box, in points.
  public var width: Int?
  /// The height of the box, in points.
  public var height: Int?
  /// How a picture fills the box.
  public var fit: Fit?
  /// Pixels per point of the screen.
  public var scale: Double?
  /// Options of the rich type, such as `view=waveform` for a sound.
  public var others: [String: String]

  /// The media as it was published.
  public static let original = MediaOptions()

  /// Creates options; the server chooses what is nil.
  public init(
    profile: String? = nil, width: Int? = nil, height: Int? = nil, fit: Fit? = nil,
    scale: Double? = nil, others: [String: String] = [:]
  ) {
    self.profile = profile
    self.width = width
    self.height = height
    self.fit = fit
    self.scale = scale
    self.others = others
  }

  var query: [(name: String, value: String)] {
    let known: [(name: String, value: String?)] = [
      ("profile", profile), ("width", width.map(String.init)), ("height", height.map(String.init)),
      ("fit", fit?.rawValue), ("dpr", scale.map { "\($0)" }),
    ]
    return known.compactMap { pair in pair.value.map { (pair.name, $0) } }
      + others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
