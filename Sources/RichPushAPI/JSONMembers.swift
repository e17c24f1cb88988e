package import FoundationEssentials

/// Reads the members of a request's JSON object one by one.
package struct JSONMembers {
  private var rest: [String: JSON]

  /// Reads a JSON object; `ignoringCase` matches names as the tutorial's server does.
  ///
  /// A name that is not among `known` is an error, since a misspelled field would be ignored silently. Nil
  /// allows any name.
  ///
  /// - Throws: `invalidRequest` or `unknownField`.
  package init(_ body: [UInt8], known: [String]?, ignoringCase: Bool = false) throws(ServiceError) {
    guard String(validating: body, as: UTF8.self) != nil else {
      throw ServiceError(.invalidRequest, "The body is not UTF-8.")
    }
    guard let value = JSON(body) else {
      throw ServiceError(.invalidRequest, "The body is not JSON.")
    }
    guard case .object(let members) = value else {
      throw ServiceError(.invalidRequest, "The body is not a JSON object.")
    }
    rest =
      ignoringCase
      ? Dictionary(members.map { ($0.key.lowercased(), $0.value) }) { $1 } : members
    guard let known else { return }
    let names = Set(ignoringCase ? known.map { $0.lowercased() } : known)
    let unknown = members.keys.filter { !names.contains(ignoringCase ? $0.lowercased() : $0) }
    if let name = unknown.min() { throw ServiceError(unknown: "field", name, among: known) }
  }

  /// Whether the member exists, `null` included.
  package func holds(_ name: String) -> Bool { rest[name] != nil }

  /// Whether the member exists and is `null`.
  package func isNull(_ name: String) -> Bool { rest[name] == .null }

  /// Removes and returns a member; nil if it is missing or `null`.
  package mutating func take(_ name: String) -> JSON? {
    guard let value = rest.removeValue(forKey: name), value != .null else { return nil }
    return value
  }

  /// Removes and returns a string.
  package mutating func string(_ name: String) throws(ServiceError) -> String? {
    guard let value = take(name) else { return nil }
    guard case .string(let text) = value else {
      throw ServiceError(.invalidRequest, "\(name) is not a string.")
    }
    guard !text.utf8.contains(0) else {
      throw ServiceError(.invalidRequest, "\(name) holds a NUL character.")
    }
    return text
  }

  /// Removes and returns a Boolean.
  package mutating func bool(_ name: String) throws(ServiceError) -> Bool? {
    guard let value = take(name) else { return nil }
    guard case .bool(let bool) = value else {
      throw ServiceError(.invalidRequest, "\(name) is not true or false.")
    }
    return bool
  }

  /// Removes and returns an array of strings.
  package mutating func strings(_ name: String) throws(ServiceError) -> [String]? {
    guard let value = take(name) else { return nil }
    guard case .array(let items) = value else {
      throw ServiceError(.invalidRequest, "\(name) is not an array.")
    }
    return try Self.strings(items, name)
  }

  /// The items of an array of strings; `name` is the member's, for the error.
  package static func strings(_ items: [JSON], _ name: String) throws(ServiceError) -> [String] {
    var texts: [String] = []
    for item in items {
      guard case .string(let text) = item else {
        throw ServiceError(.invalidRequest, "\(name) holds something that is not a string.")
      }
      texts.append(text)
    }
    return texts
  }

  /// Removes and returns a time (RFC 3339).
  package mutating func time(_ name: String) throws(ServiceError) -> Date? {
    guard let text = try string(name) else { return nil }
    if let date = try? Date(text, strategy: .iso8601) { return date }
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    guard let date = try? Date(text, strategy: fractional) else {
      throw ServiceError(.invalidRequest, "\(name) is not a time such as 2026-12-31T23:59:59Z.")
    }
    return date
  }
}
