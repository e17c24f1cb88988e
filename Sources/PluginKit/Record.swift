/// One unit of the FastCGI protocol (FastCGI 1.0 section 3.3).
struct Record {
  /// What a record carries (section 8).
  enum Kind {
    static let beginRequest: UInt8 = 1
    static let abortRequest: UInt8 = 2
    static let endRequest: UInt8 = 3
    static let parameters: UInt8 = 4
    static let input: UInt8 = 5
    static let output: UInt8 = 6
    static let errors: UInt8 = 7
    static let getValues: UInt8 = 9
    static let getValuesResult: UInt8 = 10
    static let unknownType: UInt8 = 11
  }

  let kind: UInt8
  let request: UInt16
  let content: [UInt8]

  /// The record as it goes over the wire, padded to eight bytes.
  func encode(to bytes: inout [UInt8]) {
    let padding = -content.count & 7
    bytes += [1, kind, UInt8(request >> 8), UInt8(request & 255)]
    bytes += [UInt8(content.count >> 8), UInt8(content.count & 255), UInt8(padding), 0]
    bytes += content
    bytes += repeatElement(0, count: padding)
  }

  /// Appends a stream: its bytes in as many records as it takes, then the empty one that ends it.
  static func encodeStream(
    _ kind: UInt8, _ content: [UInt8], request: UInt16, to bytes: inout [UInt8]
  ) {
    var rest = content[...]
    while !rest.isEmpty {
      Record(kind: kind, request: request, content: Array(rest.prefix(65_528)))
        .encode(to: &bytes)
      rest = rest.dropFirst(65_528)
    }
    Record(kind: kind, request: request, content: []).encode(to: &bytes)
  }

  /// The name-value pairs in a parameter stream (section 3.4); nil when it is cut short.
  static func pairs(in bytes: [UInt8]) -> [String: String]? {
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
