import CQRCode
import Glibc

/// A text as a QR code (ISO/IEC 18004), by libqrencode.
package struct QRCode: Sendable, Equatable {
  /// The rows of modules from the top, where true is dark, without the quiet zone of four light modules around them.
  package let rows: [[Bool]]

  /// The smallest code that holds the text and of which a seventh may be covered; nil if the text is empty or longer
  /// than 2,331 bytes.
  package init?(_ text: String) {
    var width = 0
    guard let modules = cqrcode_modules(text, &width) else { return nil }
    defer { free(modules) }
    rows = (0..<width).map { row in
      (0..<width).map { modules[row * width + $0] == 1 }
    }
  }

  /// The modules in a row.
  package var width: Int { rows.count }
  /// How many light modules belong around a code, so that it is found.
  package static let quietZone = 4

  /// The rows of a code as the API has them: 1 is dark.
  package init(texts: [String]) { rows = texts.map { $0.utf8.map { $0 == UInt8(ascii: "1") } } }

  /// The rows as the API has them: 1 is dark, 0 is light.
  package var texts: [String] { rows.map { row in row.reduce(into: "") { $0 += $1 ? "1" : "0" } } }
}
