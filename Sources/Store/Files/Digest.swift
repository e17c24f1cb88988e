import CGnuTLS

/// The SHA-256 of some content, as 64 lower-case hexadecimal digits: the name of a blob.
package struct Digest: Sendable, Hashable, CustomStringConvertible {
  /// The 64 digits.
  package let hex: String

  /// Takes a digest written down before; nil unless it is 64 lower-case hexadecimal digits.
  package init?(hex: some StringProtocol) {
    let isHexadecimal = hex.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
    guard hex.utf8.count == 64, isHexadecimal else { return nil }
    self.hex = String(hex)
  }

  /// The digest of bytes in memory.
  package init(of bytes: [UInt8]) {
    var sum = RunningDigest()
    bytes.withUnsafeBytes { sum.add($0) }
    self = sum.finish()
  }

  /// The digest of a text's UTF-8.
  package init(of text: String) {
    self.init(of: Array(text.utf8))
  }

  /// The digits.
  package var description: String { hex }

  fileprivate init(_ bytes: [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    hex = String(unsafeUninitializedCapacity: 64) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[2 * index] = digits[Int(byte >> 4)]
        buffer[2 * index + 1] = digits[Int(byte & 15)]
      }
      return 64
    }
  }
}

/// A SHA-256 over content that comes in pieces (`gnutls_hash`).
struct RunningDigest: ~Copyable {
  private let handle: gnutls_hash_hd_t?

  init() {
    var opened: gnutls_hash_hd_t?
    gnutls_hash_init(&opened, GNUTLS_DIG_SHA256)
    handle = opened
  }

  deinit {
    if let handle { gnutls_hash_deinit(handle, nil) }
  }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    guard let handle, let base = bytes.baseAddress else { return }
    gnutls_hash(handle, base, bytes.count)
  }

  /// The digest of everything added; the next addition begins anew (`gnutls_hash_output`).
  mutating func finish() -> Digest {
    var bytes = [UInt8](repeating: 0, count: 32)
    if let handle { gnutls_hash_output(handle, &bytes) }
    return Digest(bytes)
  }
}
