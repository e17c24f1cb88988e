import CCodecs

/// Calls into C with a buffer for the library's words; gives them back when the call fails.
struct CodecMessage: Error {
  let text: String

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
