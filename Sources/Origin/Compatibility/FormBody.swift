import HTTP
import RichPushAPI

/// The members of a body that is JSON or a form, as clients of other programs send it.
enum FormBody {
  /// The most parts of a form.
  private static let mostParts = 64

  /// The members of a body of this `Content-Type`; without one it is JSON if it looks like it.
  ///
  /// - Throws: if the body has not the form that its type says.
  static func members(
    _ body: [UInt8], type: String?
  ) throws(ServiceError) -> [String: JSONValue] {
    let name = (type ?? "").prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
    let isObject = body.first { $0 > 0x20 } == UInt8(ascii: "{")
    switch name {
    case "application/x-www-form-urlencoded" where !isObject:
      guard let query = Query(encoded: body.span) else { throw malformed("a form in UTF-8") }
      return texts(query.items)
    case "multipart/form-data":
      guard let boundary = boundary(type ?? ""), let parts = parts(body, boundary) else {
        throw malformed("the form that its boundary divides, without files")
      }
      return texts(parts)
    default:
      guard let members = JSONValue(body)?.members else {
        throw malformed("a JSON object in UTF-8")
      }
      return members
    }
  }

  private static func texts(_ items: [(name: String, value: String)]) -> [String: JSONValue] {
    Dictionary(items.map { ($0.name, JSONValue.string($0.value)) }) { first, _ in first }
  }

  private static func malformed(_ form: String) -> ServiceError {
    ServiceError(.invalidRequest, "The body is not \(form).")
  }

  private static func boundary(_ type: String) -> String? {
    guard let match = type.firstMatch(of: /(?i)boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/) else {
      return nil
    }
    return String(match.1 ?? match.2 ?? "")
  }

  /// The fields of a form (RFC 7578); nil if it is malformed, or has a file.
  private static func parts(
    _ body: [UInt8], _ boundary: String
  ) -> [(name: String, value: String)]? {
    let lineEnd: [UInt8] = [0x0D, 0x0A]
    // The first delimiter needs no line before it.
    var rest = (lineEnd + body)[...]
    let delimiter = Array("\r\n--\(boundary)".utf8)
    guard let start = rest.firstRange(of: delimiter) else { return nil }
    rest = rest[start.upperBound...]
    var parts: [(name: String, value: String)] = []
    while !rest.starts(with: "--".utf8) {
      guard rest.starts(with: lineEnd), parts.count < mostParts,
        let end = rest.firstRange(of: delimiter),
        let headEnd = rest[..<end.lowerBound].firstRange(of: lineEnd + lineEnd),
        let head = String(validating: rest[..<headEnd.lowerBound], as: UTF8.self),
        let name = name(head),
        let value = String(validating: rest[headEnd.upperBound..<end.lowerBound], as: UTF8.self)
      else { return nil }
      parts.append((name, value))
      rest = rest[end.upperBound...]
    }
    return parts
  }

  /// The name in the fields of a part; nil if it has none, or is a file.
  private static func name(_ head: String) -> String? {
    for line in head.split(separator: "\r\n") {
      guard let start = line.prefixMatch(of: /(?i)content-disposition:\s*form-data;/) else {
        continue
      }
      let parameters = line[start.range.upperBound...]
      if parameters.contains("filename") { return nil }
      return parameters.firstMatch(of: /name=(?:"([^"]*)"|([^\s;"]+))/).map {
        String($0.1 ?? $0.2 ?? "")
      }
    }
    return nil
  }
}

/// Members of a request in which a number may also be written as a text, as in a form.
struct ForeignMembers: Sendable {
  let values: [String: JSONValue]

  /// The text of a member; nil if it is missing or empty.
  ///
  /// - Throws: if it is neither a text nor a number.
  func text(_ name: String) throws(ServiceError) -> String? {
    switch values[name] ?? .null {
    case .null: return nil
    case .string(let text): return text.isEmpty ? nil : text
    case .number(let number):
      return Int(exactly: number).map(String.init) ?? "\(number)"
    case .bool(let bool): return bool ? "1" : "0"
    case .array, .object: throw fault(name, "must be a text")
    }
  }

  /// The whole number of a member.
  func number(_ name: String) throws(ServiceError) -> Int? {
    guard let text = try text(name) else { return nil }
    guard let number = Int(text) else { throw fault(name, "must be a whole number") }
    return number
  }

  /// An error that is about a member.
  func fault(_ name: String, _ rule: String) -> ServiceError {
    ServiceError(.init(name, .rejected, "\(name) \(rule)."))
  }

  /// - Throws: for the first of these members that is there, with a sentence that says why it is not supported.
  func refuse(_ reasons: KeyValuePairs<String, String>) throws(ServiceError) {
    for (name, reason) in reasons where try text(name) != nil {
      throw ServiceError(.init(name, .rejected, "\(reason) Leave \(name) out."))
    }
  }
}
