import FoundationEssentials

/// The members of a request's JSON object, read one by one so that none is overlooked.
struct JSONMembers {
  private var rest: [String: JSONValue]

  /// Reads a body; `ignoringCase` binds names as the tutorial's server does.
  init(_ body: [UInt8], ignoringCase: Bool = false) throws(Refusal) {
    guard String(validating: body, as: UTF8.self) != nil else {
      throw Refusal(400, "The body is not UTF-8.")
    }
    guard let value = JSONValue(body) else { throw Refusal(400, "The body is not JSON.") }
    guard case .object(let members) = value else {
      throw Refusal(400, "The body is not a JSON object.")
    }
    rest =
      ignoringCase
      ? Dictionary(members.map { ($0.key.lowercased(), $0.value) }) { $1 } : members
  }

  /// Whether there is such a member, `null` included.
  func holds(_ name: String) -> Bool { rest[name] != nil }

  /// Whether a member is there and `null`.
  func isNull(_ name: String) -> Bool { rest[name] == .null }

  /// Takes a member out; `null` is as good as none.
  mutating func take(_ name: String) -> JSONValue? {
    guard let value = rest.removeValue(forKey: name), value != .null else { return nil }
    return value
  }

  /// Takes out a member that is a text.
  mutating func string(_ name: String) throws(Refusal) -> String? {
    guard let value = take(name) else { return nil }
    guard case .string(let text) = value else { throw Refusal(400, "\(name) is not a string.") }
    guard !text.utf8.contains(0) else { throw Refusal(400, "\(name) holds a NUL character.") }
    return text
  }

  /// Takes out a member that is true or false.
  mutating func bool(_ name: String) throws(Refusal) -> Bool? {
    guard let value = take(name) else { return nil }
    guard case .bool(let bool) = value else { throw Refusal(400, "\(name) is not true or false.") }
    return bool
  }

  /// Takes out a member that is a list of texts.
  mutating func strings(_ name: String) throws(Refusal) -> [String]? {
    guard let value = take(name) else { return nil }
    guard case .array(let items) = value else { throw Refusal(400, "\(name) is not an array.") }
    return try Self.strings(items, name)
  }

  /// The items of the array that `name` holds, when all of them are texts.
  static func strings(_ items: [JSONValue], _ name: String) throws(Refusal) -> [String] {
    var texts: [String] = []
    for item in items {
      guard case .string(let text) = item else {
        throw Refusal(400, "\(name) holds something that is not a string.")
      }
      texts.append(text)
    }
    return texts
  }

  /// Takes out a member that is a time in RFC 3339.
  mutating func time(_ name: String) throws(Refusal) -> Date? {
    guard let text = try string(name) else { return nil }
    if let date = try? Date(text, strategy: .iso8601) { return date }
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    guard let date = try? Date(text, strategy: fractional) else {
      throw Refusal(400, "\(name) is not a time such as 2026-12-31T23:59:59Z.")
    }
    return date
  }

  /// Refuses what nobody took: an unknown member is a typing error that would pass in silence.
  func finish() throws(Refusal) {
    guard let name = rest.keys.min() else { return }
    throw Refusal(400, "There is no member \(name.quoted).")
  }
}
