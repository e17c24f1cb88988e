/// Why a picture could not be read or made.
package struct ImagingError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Sendable {
    /// The file could not be opened or read.
    case unreadable
    /// The bytes are no picture, or of a kind that is not handled.
    case unsupported
    /// The picture is truncated or broken.
    case damaged
    /// A limit was passed; the reason has the numbers.
    case tooLarge
    /// An option has no meaning.
    case invalidOption
    /// No encoding of the picture meets what was asked.
    case unreachable
  }

  package let code: Code
  /// A sentence that says what to do about it.
  package let reason: String

  /// The codec's own message or the numbers behind the reason, for a log.
  package let detail: String?

  /// The reason: it is made for reading.
  package var description: String { reason }

  package init(_ code: Code, _ reason: String, detail: String? = nil) {
    self.code = code
    self.reason = reason
    self.detail = detail
  }
}
