/// The units of the FastCGI protocol (FastCGI 1.0, section 3.3).
struct Record {
  /// What a record carries (section 8).
  enum Kind: UInt8 {
    case beginRequest = 1
    case abortRequest, endRequest, parameters, input, output, errors, data, getValues
    case getValuesResult, unknownType
  }

  static let headerSize = 8
  private static let mostContent = 65_528

  /// All records of one request: its beginning, the parameters and the content.
  ///
  /// - Parameters:
  ///   - id: The request's number, 1 to 65535, which each record of the answer repeats.
  ///   - lasting: The variables that are the same each time, ``encoded(_:after:)`` before.
  ///   - variables: The others.
  ///   - body: The content.
  ///   - isKept: Whether the connection shall stay for the next request (FCGI_KEEP_CONN).
  /// - Returns: The bytes to send.
  static func request(
    _ id: UInt16, lasting: [UInt8] = [], _ variables: [(name: String, value: String)],
    body: [UInt8], isKept: Bool
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    let variables = encoded(variables, after: lasting)
    bytes.reserveCapacity(variables.count + body.count + 64)
    append(.beginRequest, id, [0, 1, isKept ? 1 : 0, 0, 0, 0, 0, 0], to: &bytes)
    appendStream(.parameters, id, variables[...], to: &bytes)
    appendStream(.input, id, body[...], to: &bytes)
    return bytes
  }

  private static func appendStream(
    _ kind: Kind, _ id: UInt16, _ content: ArraySlice<UInt8>, to bytes: inout [UInt8]
  ) {
    var rest = content
    while !rest.isEmpty {
      append(kind, id, rest.prefix(mostContent), to: &bytes)
      rest = rest.dropFirst(mostContent)
    }
    append(kind, id, [], to: &bytes)
  }

  private static func append(
    _ kind: Kind, _ id: UInt16, _ content: ArraySlice<UInt8>, to bytes: inout [UInt8]
  ) {
    let padding = -content.count & 7
    bytes += [
      1, kind.rawValue, UInt8(id >> 8), UInt8(id & 255), UInt8(content.count >> 8),
      UInt8(content.count & 255), UInt8(padding), 0,
    ]
    bytes += content
    bytes += repeatElement(0, count: padding)
  }

  /// Name-value pairs: lengths below 128 in one byte, others in four (section 3.4).
  static func encoded(
    _ pairs: [(name: String, value: String)], after before: [UInt8] = []
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      pairs.reduce(before.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 5 })
    bytes += before
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
}
