import CCodecs
package import MediaTypes

/// Why a picture could not be read or rendered.
package struct ImagingError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Sendable {
    /// The file could not be opened or read.
    case unreadable
    /// The file is not a picture, or of a format that is not supported.
    case unsupported
    /// The format is supported, but not the coding or a property of this picture.
    case unsupportedContent
    /// The picture is truncated or damaged.
    case damaged
    /// A limit was exceeded; the reason has the numbers.
    case tooLarge
    /// An option is not valid.
    case invalidOption
    /// No encoding of the picture is as small as requested.
    case unreachable
  }

  package let code: Code
  /// A sentence for people that says what to do.
  package let reason: String

  /// The codec's own message or the numbers behind the reason, for a log.
  package let detail: String?

  /// The reason, which is written for people.
  package var description: String { reason }

  package init(_ code: Code, _ reason: String, detail: String? = nil) {
    (self.code, self.reason, self.detail) = (code, reason, detail)
  }

  /// A file of a format that is damaged.
  static func damaged(_ format: String, _ detail: String? = nil) -> ImagingError {
    ImagingError(.damaged, "This \(format) is damaged. Export it again.", detail: detail)
  }

  /// A file that ends too early.
  static let incomplete = ImagingError(
    .damaged, "The picture is incomplete. Copy or export it again.")
}

/// Calls a function of CCodecs with a buffer for its message.
///
/// - Parameters:
///   - failure: The error to throw; the codec's message becomes its detail.
///   - body: The call; nil when it failed.
/// - Returns: What the call returns.
/// - Throws: `failure`, when the call failed.
func callCodec<Result>(
  or failure: @autoclosure () -> ImagingError, _ body: (UnsafeMutablePointer<CChar>) -> Result?
) throws(ImagingError) -> Result {
  var message = [CChar](repeating: 0, count: Int(CODEC_MESSAGE))
  if let result = body(&message) { return result }
  let bytes = message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
  let failure = failure()
  throw ImagingError(failure.code, failure.reason, detail: String(decoding: bytes, as: UTF8.self))
}

/// A status of CCodecs; nil when it is negative, which means failure.
func succeeded(_ status: Int32) -> Int32? { status < 0 ? nil : status }

/// The limits of a source, checked against its header before memory is allocated.
package struct Limits: Sendable {
  /// Width times height, in millions.
  package var megapixels = 100
  /// Pixels along one edge.
  package var edge = 30_000
  /// Bytes of the coefficients that are kept while a JPEG of several scans, such as a progressive one, is decoded.
  package var coefficientBytes = 192 << 20
  /// Bytes of an interlaced PNG, which is kept whole while it is decoded.
  package var bitmapBytes = 128 << 20
  /// Bytes of the rows of a picture that `img-decode` decodes.
  package var decodedBytes = 160 << 20
  /// Bytes of one ancillary chunk or profile, inflated.
  package var ancillaryBytes = 4 << 20
  /// Bytes of a picture that is not sent as it is: the `outputMiB` of the plugin img.
  package var outputBytes = 64 << 20
  /// Scans of a progressive JPEG.
  package var scans = 100

  package init() {}

  /// Checks the size in a picture's header.
  package func check(_ size: PixelSize) throws(ImagingError) {
    guard size.width > 0, size.height > 0 else {
      let missing = size.width > 0 ? "height" : "width"
      throw ImagingError(
        .damaged, "This picture is damaged: it has no \(missing). Export it again.")
    }
    guard max(size.width, size.height) <= edge else {
      throw ImagingError(
        .tooLarge,
        "The picture is \(size) pixels; the longest edge allowed is \(edge). Export it smaller.")
    }
    guard size.pixels <= megapixels * 1_000_000 else {
      let tenths = (size.pixels + 99_999) / 100_000
      throw ImagingError(
        .tooLarge,
        "The picture is \(size) pixels, \(tenths / 10).\(tenths % 10) megapixels; at most "
          + "\(megapixels) are allowed. Export it smaller.")
    }
  }

  /// Checks the size of a buffer that decoding needs.
  func check(
    _ bytes: Int, against limit: Int, for what: String, remedy: String = "Export it smaller."
  ) throws(ImagingError) {
    guard bytes > limit else { return }
    throw ImagingError(
      .tooLarge, "\(what) is too large. \(remedy)",
      detail: "it takes \(bytes >> 20) MiB of memory, the limit is \(limit >> 20) MiB")
  }
}
