/// A picture as it goes to a device.
package struct RenderedPicture: Sendable {
  package enum Content: Sendable {
    /// The source, bit for bit.
    case original
    /// The source without its private metadata; the pixels are untouched.
    case cleaned(CleanCopy)
    /// New pixels.
    case encoded([UInt8])
  }

  /// The encoded picture, or the source unchanged.
  package let content: Content
  /// The media type of the content.
  package let mediaType: String
  /// As it is seen, upright.
  package let size: PixelSize
  /// Bytes.
  package let byteCount: Int
  /// How it was made.
  package let steps: [Step]

  /// The bytes, with those of the source where they are the same.
  package func bytes(from source: SourceFile) -> [UInt8] {
    switch content {
    case .original: source.bytes(0..<source.size)
    case .cleaned(let copy): copy.bytes(of: source)
    case .encoded(let bytes): bytes
    }
  }
}
