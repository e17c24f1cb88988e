import CCodecs

/// Calls into C with a buffer for the library's words; gives them back when the call fails.
struct CodecMessage: Error, CustomStringConvertible {
  let text: String

  var description: String { text }

  /// The error for a file that the codec refused: a sentence for its owner, the codec's text for the log.
  func damaged(_ format: String) -> ImagingError {
    ImagingError(.damaged, "This \(format) is damaged. Export it again.", detail: text)
  }

  static func of<Result>(
    _ body: (UnsafeMutablePointer<CChar>) -> Result?
  ) throws(CodecMessage) -> Result {
    var message = [CChar](repeating: 0, count: Int(CODEC_MESSAGE))
    if let result = body(&message) { return result }
    throw CodecMessage(
      text: String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    )
  }
}

/// A status of C: negative is failure.
func succeeded(_ status: Int32) -> Int32? { status < 0 ? nil : status }
