import FoundationEssentials
import MediaTypes
import Primitives
import Push

/// The recipients' app at `/app/`: what it is called, how it looks, and what it offers.
package struct AppSettings: Sendable {
  /// The name under its icon.
  package var name = "richpush"
  /// Its accent, as in CSS: `#rrggbb`.
  package var colour = "#0b57d0"
  /// A square PNG that takes the place of its icons; nil for its own.
  package private(set) var icon: [UInt8]?
  /// The pixels of a side of ``icon``.
  private(set) var iconSide = 512
  /// What recipients can choose to get.
  package private(set) var subjects: [Subject] = []

  /// A tag that the operator offers to recipients, with its name for people.
  package struct Subject: Sendable, Equatable {
    /// The tag.
    package let tag: String
    /// Its name.
    package let name: String
  }

  /// The app as it is without any option.
  package init() {}

  /// Offers subjects, each written `tag=Name`.
  ///
  /// - Throws: `OperatorError` for an invalid one.
  package mutating func offer(_ subjects: [String]) throws(OperatorError) {
    guard subjects.count <= 50 else { throw OperatorError("--subjects must be at most 50") }
    for text in subjects {
      let parts = text.split(separator: "=", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard let first = parts.first, let tag = try? Tag(first), !tag.isReserved else {
        throw OperatorError("--subjects must be tags with names, such as news=News, not \(text)")
      }
      let name = parts.count == 2 ? parts[1] : first
      guard (1...64).contains(name.utf8.count), !name.unicodeScalars.contains(where: \.isControl)
      else { throw OperatorError("--subjects \(first): a name has from 1 to 64 bytes") }
      guard !self.subjects.contains(where: { $0.tag == first }) else {
        throw OperatorError("--subjects names \(first) twice")
      }
      self.subjects.append(Subject(tag: first, name: name))
    }
  }

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
    guard let size = Self.sizeOfPNG(bytes), size.width == size.height, size.width >= 512 else {
      throw OperatorError("--app-icon must be a square PNG of at least 512 pixels, not \(path)")
    }
    (icon, iconSide) = (bytes, size.width)
  }

  /// The pixels that the header of a PNG names (ISO/IEC 15948, 11.2.2); nil for another file.
  private static func sizeOfPNG(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    let start: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]
    guard bytes.count >= 33, bytes.starts(with: start) else { return nil }
    func number(at index: Int) -> Int {
      bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    return (number(at: 16), number(at: 20))
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
