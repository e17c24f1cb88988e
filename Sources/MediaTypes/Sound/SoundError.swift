/// Why bytes are not a sound that can be described.
package struct SoundError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of trouble it is.
  package enum Code: Sendable {
    /// The bytes are no sound of a known container.
    case notSound
    /// The container is right and its inside is cut short or contradicts itself.
    case damaged
  }

  /// What kind of trouble it is.
  package let code: Code
  /// A sentence for the person who sent the file.
  package let reason: String

  /// What exactly is wrong with the bytes, for a log; nil where the reason says all.
  package let detail: String?

  /// The reason: it is made for reading.
  package var description: String { reason }

  /// Creates an error; `detail` is for a log.
  package init(code: Code, reason: String, detail: String? = nil) {
    self.code = code
    self.reason = reason
    self.detail = detail
  }

  /// A sound whose inside is broken; `what` continues "the file …".
  package static func damaged(_ type: MediaType, _ what: String) -> SoundError {
    let name = type.fileExtension.uppercased()
    return SoundError(
      code: .damaged, reason: "This \(name) is damaged. Export it again.",
      detail: "the \(name) file \(what)")
  }
}
