@testable import Imaging

extension DecodedStream {
  /// The error of reading all that `img-decode` has sent of a HEIC; nil when all is read.
  static func error(reading bytes: [UInt8]) -> ImagingError? {
    var rest = bytes[...]
    do {
      let stream = try DecodedStream(.heic, limits: Limits()) { buffer in
        let piece = rest.prefix(buffer.count)
        rest = rest.dropFirst(piece.count)
        buffer.copyBytes(from: piece)
        return piece.count
      }
      try stream.validate()
      return nil
    } catch { return error }
  }
}
