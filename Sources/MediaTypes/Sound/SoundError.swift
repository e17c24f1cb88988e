/// Why bytes are not a sound that can be described.
package struct SoundError: Error, Sendable, Hashable {
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

  static func damaged(_ type: MediaType, _ what: String) -> SoundError {
    SoundError(code: .damaged, reason: "The \(type.fileExtension.uppercased()) file \(what).")
  }
}
