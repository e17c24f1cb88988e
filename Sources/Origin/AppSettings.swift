import FoundationEssentials
package import Media
import MediaTypes

/// The recipients' app at `/app/`: what it is called, and how it looks.
package struct AppSettings: Sendable {
  /// The name under its icon.
  package var name = "richpush"
  /// Its accent, as in CSS: `#rrggbb`.
  package var colour = "#0b57d0"
  /// A square PNG that takes the place of its icons; nil for its own.
  package private(set) var icon: [UInt8]?
  /// The pixels of a side of ``icon``.
  private(set) var iconSide = 512

  /// The app as it is without any option.
  package init() {}

  /// Reads the icon from a file.
  ///
  /// - Throws: `OperatorError` unless it is a square PNG of at least 512 pixels.
  package mutating func useIcon(at path: String) throws(OperatorError) {
    guard let file = try? Data(contentsOf: URL(filePath: path)) else {
      throw OperatorError("--app-icon: the file \(path) cannot be read")
    }
    guard file.count <= 1 << 20 else {
      throw OperatorError("--app-icon: \(path) has more than 1 MiB; phones load it with the app")
    }
    let bytes = Array(file)
    guard MediaType.sniff(bytes).value == "image/png", let size = PixelSize.read(bytes),
      size.width == size.height, size.width >= 512
    else {
      throw OperatorError("--app-icon must be a square PNG of at least 512 pixels, not \(path)")
    }
    (icon, iconSide) = (bytes, size.width)
  }

  /// - Throws: `OperatorError` for a name or a colour that no page could show.
  func check() throws(OperatorError) {
    guard (1...40).contains(name.count), !name.unicodeScalars.contains(where: \.isControl) else {
      throw OperatorError("--app-name must have from 1 to 40 characters")
    }
    guard colour.wholeMatch(of: /#[0-9A-Fa-f]{6}/) != nil else {
      throw OperatorError("--app-colour must be a colour such as #0b57d0, not \(colour)")
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { properties.generalCategory == .control }
}
