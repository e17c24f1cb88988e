import COpenSSL
import FoundationEssentials

/// The SHA-256 of some content, as 64 lower-case hexadecimal digits: the name of a blob.
package struct Digest: Sendable, Hashable, CustomStringConvertible {
  /// The 64 digits.
  package let hex: String

  /// Parses a digest; nil unless the text is 64 lower-case hexadecimal digits.
  package init?(hex: some StringProtocol) {
    guard hex.utf8.count == 64, hex.utf8.allSatisfy(\.isLowercaseHexadecimal) else { return nil }
    self.hex = String(hex)
  }

  /// The digest of bytes in memory.
  package init(of bytes: [UInt8]) { self = bytes.withUnsafeBytes { Digest(of: $0) } }

  /// The digest of a text's UTF-8.
  package init(of text: String) {
    var text = text
    self = text.withUTF8 { Digest(of: UnsafeRawBufferPointer($0)) }
  }

  private init(of bytes: UnsafeRawBufferPointer) {
    self = withUnsafeBytes(of: Self.words(of: bytes)) { Digest($0) }
  }

  /// The SHA-256 of bytes, as four numbers.
  static func words(of bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    copenssl_sha256(bytes.baseAddress, bytes.count, &words)
    return words
  }

  /// The digits.
  package var description: String { hex }

  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? 0x30 : 0x61 - 10) }
    hex = String(unsafeUninitializedCapacity: 64) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[2 * index] = digit(byte >> 4)
        buffer[2 * index + 1] = digit(byte & 15)
      }
      return 64
    }
  }
}

extension UInt8 {
  var isLowercaseHexadecimal: Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
  }
}

/// Computes the SHA-256 of content that arrives in pieces.
struct SHA256Hasher: ~Copyable {
  private let handle = copenssl_hash_make()

  deinit { copenssl_hash_free(handle) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    copenssl_hash_add(handle, bytes.baseAddress, bytes.count)
  }

  /// The digest of everything added so far; resets the hasher.
  mutating func finalize() -> Digest {
    var bytes = [UInt8](repeating: 0, count: 32)
    copenssl_hash_finish(handle, &bytes)
    return bytes.withUnsafeBytes { Digest($0) }
  }
}

/// A user's number, which is never reused.
///
/// Rows refer to users by number, so that a later user of the same name gets nothing of a removed one.
package struct UserID: Sendable, Hashable, Comparable, RawRepresentable {
  /// The number, 1 or higher.
  package let rawValue: Int

  /// Wraps a number that the store assigned.
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Orders users by when they were added.
  package static func < (one: UserID, other: UserID) -> Bool { one.rawValue < other.rawValue }
}

/// A list of strings in one column, as JSON; parsed when `items` is read, which most queries never do.
struct StringList: Sendable, Equatable, RawRepresentable {
  let rawValue: String

  init(rawValue: String) { self.rawValue = rawValue }

  init(_ items: [String]) {
    // Encoding strings as JSON can't fail. By an encoder, since audiences are compared with the text in the database.
    let data = (try? JSONEncoder().encode(items)) ?? Data("[]".utf8)
    rawValue = String(decoding: data, as: UTF8.self)
  }

  var items: [String] {
    (try? JSONDecoder().decode([String].self, from: Data(rawValue.utf8))) ?? []
  }
}
