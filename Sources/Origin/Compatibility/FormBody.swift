import HTTP
import RichPushAPI

/// The members of a body that is JSON or a form, as clients of other programs send it.
enum FormBody {
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
      let form = try MultipartForm(body, type: type ?? "")
      guard try form.file() == nil else {
        throw ServiceError(.invalidRequest, "The form has a file, which is not taken here.")
      }
      return try texts(
        form.parts.map { part throws(ServiceError) in
          guard let text = String(validating: part.content, as: UTF8.self) else {
            throw malformed("a form in UTF-8")
          }
          return (part.name, text)
        })
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
