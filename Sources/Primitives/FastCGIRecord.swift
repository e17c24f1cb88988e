/// FastCGI records (FastCGI 1.0, sections 3.3, 3.4 and 8).
package enum FastCGIRecord {
  /// What a record carries (section 8).
  package enum Kind: UInt8, Sendable {
    case beginRequest = 1
    case abortRequest, endRequest, parameters, input, output, errors, data, getValues
    case getValuesResult, unknownType
  }

  /// The first eight bytes of a record.
  package struct Header: Sendable {
    /// The size of a header, in bytes.
    package static let size = 8

    /// Nil for a number that the protocol does not define.
    package let kind: Kind?
    /// 0 for a record that belongs to no request (a management record).
    package let requestID: UInt16
    /// The bytes of content that follow the header.
    package let contentLength: Int
    /// The bytes to ignore after the content.
    package let paddingLength: Int

    /// Reads a header; nil unless it has eight bytes and the protocol's version is 1.
    package init?(_ bytes: some Collection<UInt8>) {
      let bytes = Array(bytes)
      guard bytes.count == Self.size, bytes[0] == 1 else { return nil }
      kind = Kind(rawValue: bytes[1])
      requestID = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
      contentLength = Int(bytes[4]) << 8 | Int(bytes[5])
      paddingLength = Int(bytes[6])
    }
  }

  /// The longest content that is a multiple of eight, so that it needs no padding.
  private static let longestContent = 65_528

  /// Appends a record, padded to a multiple of eight bytes as section 3.3 recommends.
  ///
  /// `content` has at most 65,535 bytes.
  package static func append(
    _ kind: Kind, requestID: UInt16, _ content: ArraySlice<UInt8>, to bytes: inout [UInt8]
  ) {
    let padding = -content.count & 7
    bytes += [
      1, kind.rawValue, UInt8(requestID >> 8), UInt8(requestID & 255),
      UInt8(content.count >> 8), UInt8(content.count & 255), UInt8(padding), 0,
    ]
    bytes += content
    bytes += repeatElement(0, count: padding)
  }

  /// Appends a stream: its content in as many records as needed, then the empty record that ends it.
  package static func appendStream(
    _ kind: Kind, requestID: UInt16, _ content: ArraySlice<UInt8>, to bytes: inout [UInt8]
  ) {
    var rest = content
    while !rest.isEmpty {
      append(kind, requestID: requestID, rest.prefix(longestContent), to: &bytes)
      rest = rest.dropFirst(longestContent)
    }
    append(kind, requestID: requestID, [], to: &bytes)
  }

  /// The encoded name-value pairs: lengths below 128 take one byte, others four (section 3.4).
  ///
  /// `prefix` is pairs that were encoded before; they come first.
  package static func encode(
    _ pairs: [(name: String, value: String)], after prefix: [UInt8] = []
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      pairs.reduce(prefix.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 5 })
    bytes += prefix
    for (name, value) in pairs {
      append(length: name.utf8.count, to: &bytes)
      append(length: value.utf8.count, to: &bytes)
      bytes += name.utf8
      bytes += value.utf8
    }
    return bytes
  }

  private static func append(length: Int, to bytes: inout [UInt8]) {
    if length < 128 { return bytes.append(UInt8(length)) }
    bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    bytes[bytes.count - 4] |= 0x80
  }

  /// The decoded name-value pairs; nil if they are truncated.
  ///
  /// Of two pairs with the same name the last counts.
  package static func decodePairs(_ bytes: [UInt8]) -> [String: String]? {
    var rest = bytes[...]
    func length() -> Int? {
      guard let first = rest.popFirst() else { return nil }
      guard first >= 0x80 else { return Int(first) }
      guard rest.count >= 3 else { return nil }
      defer { rest = rest.dropFirst(3) }
      return rest.prefix(3).reduce(Int(first & 0x7F)) { $0 << 8 | Int($1) }
    }
    var pairs: [String: String] = [:]
    while !rest.isEmpty {
      guard let name = length(), let value = length(), rest.count >= name + value else {
        return nil
      }
      pairs[String(decoding: rest.prefix(name), as: UTF8.self)] = String(
        decoding: rest.dropFirst(name).prefix(value), as: UTF8.self)
      rest = rest.dropFirst(name + value)
    }
    return pairs
  }
}
