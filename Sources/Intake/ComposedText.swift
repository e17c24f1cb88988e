import CUnistring
import Glibc

extension String {
  /// The text in Unicode's composed form (NFC, UAX #15), as libunistring makes it.
  package var composed: String {
    var text = self
    return text.withUTF8 { bytes in
      var count = 0
      guard let composed = cunistring_compose(bytes.baseAddress, bytes.count, &count) else {
        return String(decoding: bytes, as: UTF8.self)
      }
      defer { free(composed) }
      return String(decoding: UnsafeBufferPointer(start: composed, count: count), as: UTF8.self)
    }
  }
}
