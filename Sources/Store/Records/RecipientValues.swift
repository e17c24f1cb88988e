import Primitives

/// What placeholders of a notification stand for, by recipient.
///
/// There may be a million recipients; each takes 16 bytes for each name, and its longer values.
package struct RecipientValues: Sendable {
  /// The names.
  package let names: [String]
  /// The users who have a value, in ascending order.
  package private(set) var users: [UserID] = []
  /// For each user the values of all names.
  private var values: [String?] = []

  /// Values of these names, of nobody yet.
  package init(_ names: some Sequence<String>) { self.names = names.sorted() }

  /// Adds or changes a value; fast for the last user and those after it.
  package mutating func set(_ name: String, of user: UserID, to value: String) {
    guard let column = names.firstIndex(of: name) else { return }
    var row = users.count - 1
    if users.last != user {
      row = index(of: user)
      if row == users.count || users[row] != user {
        users.insert(user, at: row)
        values.insert(
          contentsOf: repeatElement(nil, count: names.count), at: row * names.count)
      }
    }
    values[row * names.count + column] = value
  }

  /// The values of a user.
  package subscript(user: UserID) -> [String: String] {
    let row = index(of: user)
    return row < users.count && users[row] == user ? values(at: row) : [:]
  }

  /// The values of a user, as a JSON object.
  func text(of user: UserID) -> String {
    let row = index(of: user)
    return row < users.count && users[row] == user ? text(at: row) : "{}"
  }

  /// The first `limit` of these users, who are in ascending order, for whom one of the names has no value, and
  /// the first such name.
  package func missing(
    _ required: Set<String>, among recipients: [UserID], limit: Int
  ) -> [(user: UserID, name: String)] {
    let columns = names.indices.filter { required.contains(names[$0]) }
    var found: [(user: UserID, name: String)] = []
    var row = 0
    for user in recipients where found.count < limit {
      while row < users.count, users[row] < user { row += 1 }
      let isKnown = row < users.count && users[row] == user
      let missing = columns.first { !isKnown || values[row * names.count + $0] == nil }
      if let missing { found.append((user, names[missing])) }
    }
    return found
  }

  /// For each name the value that takes the most bytes.
  package var longest: [String: String] {
    var longest: [String: String] = [:]
    for (offset, value) in values.enumerated() {
      guard let value else { continue }
      let name = names[offset % names.count]
      if value.utf8.count > longest[name]?.utf8.count ?? -1 { longest[name] = value }
    }
    return longest
  }

  /// The values of those of these users, in ascending order, who have any, as a JSON object whose members are named
  /// by ``member(of:)``; nil if none has.
  func json(among recipients: some Collection<UserID>) -> String? {
    guard let first = recipients.first, !users.isEmpty else { return nil }
    var row = index(of: first)
    var json = ""
    for user in recipients {
      while row < users.count, users[row] < user { row += 1 }
      guard row < users.count, users[row] == user else { continue }
      json += json.isEmpty ? "{" : ","
      json += "\"\(Self.member(of: user))\":\(text(at: row))"
    }
    return json.isEmpty ? nil : json + "}"
  }

  /// The name of a user's member in ``json(among:)``: both databases would take a number for a place in an array.
  static func member(of user: UserID) -> String { "u\(user.rawValue)" }

  private func values(at row: Int) -> [String: String] {
    var found: [String: String] = [:]
    for (column, name) in names.enumerated() {
      if let value = values[row * names.count + column] { found[name] = value }
    }
    return found
  }

  private func text(at row: Int) -> String {
    var json = ""
    for (column, name) in names.enumerated() {
      guard let value = values[row * names.count + column] else { continue }
      json += json.isEmpty ? "{" : ","
      json += "\"\(name)\":\(JSONText.quoted(value))"
    }
    return json.isEmpty ? "{}" : json + "}"
  }

  /// The place of a user, or where it would be.
  private func index(of user: UserID) -> Int {
    var (low, high) = (0, users.count)
    while low < high {
      let middle = (low + high) / 2
      if users[middle] < user { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
