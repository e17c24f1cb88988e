#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes the members of an object, and collects what is wrong with each, so that one answer names all faults.
struct MemberReader<Key: CodingKey & CaseIterable> {
  private let members: KeyedDecodingContainer<Key>
  private let text: Data?
  private var faults: [ServiceError.Fault] = []
  /// The most faults of the items of one member: a body may have a hundred thousand of them.
  private static var mostFaults: Int { 20 }

  /// - Throws: a `DecodingError` if it is no object.
  init(_ decoder: any Decoder) throws {
    members = try decoder.container(keyedBy: Key.self)
    text = CodingUserInfoKey.text.flatMap { decoder.userInfo[$0] as? Data }
  }

  /// A member; nil if it is missing, `null` or wrong.
  mutating func read<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) -> Value? {
    attempt(key) { members in try members.decodeIfPresent(type, forKey: key) } ?? nil
  }

  /// A member that must be there; nil if it is missing or wrong.
  mutating func require<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) -> Value? {
    attempt(key) { members in try members.decode(type, forKey: key) }
  }

  /// A change of a member; none if it is missing or wrong.
  mutating func readChange<Value>(_ key: Key) -> Change<Value> {
    attempt(key) { members in try members.decode(Change<Value>.self, forKey: key) } ?? .none
  }

  /// An array, of which each item may be wrong; nil if it is missing, `null` or wrong.
  mutating func readItems<Item: Decodable>(_ key: Key, of type: Item.Type = Item.self) -> [Item]? {
    let items = attempt(key) { members in
      try members.contains(key) && !members.decodeNil(forKey: key)
        ? members.nestedUnkeyedContainer(forKey: key) : nil
    }
    guard case .some(.some(var items)) = items else { return nil }
    var found: [Item] = []
    let most = faults.count + Self.mostFaults
    while !items.isAtEnd, faults.count < most {
      // A decoder of its own, so that an item that is wrong does not stop the others from being read.
      guard let item = try? items.superDecoder() else { break }
      if let value = attempt(key, { _ in try Item(from: item) }) { found.append(value) }
    }
    return found
  }

  /// An object with any names, of which each value may be wrong; nil if it is missing, `null` or wrong.
  mutating func readEntries<Item: Decodable>(
    _ key: Key, of type: Item.Type = Item.self
  ) -> [String: Item]? {
    let entries = attempt(key) { members in
      try members.contains(key) && !members.decodeNil(forKey: key)
        ? members.nestedContainer(keyedBy: MemberName.self, forKey: key) : nil
    }
    guard case .some(.some(let entries)) = entries else { return nil }
    var found: [String: Item] = [:]
    let most = faults.count + Self.mostFaults
    for name in entries.allKeys where faults.count < most {
      found[name.stringValue] = attempt(at: entries.codingPath + [name]) { _ in
        try entries.decode(Item.self, forKey: name)
      }
    }
    return found
  }

  /// A value that has its members in the same object; nil if one is wrong.
  mutating func readGroup<Value: Decodable>(_ decoder: any Decoder) -> Value? {
    attempt(at: members.codingPath) { _ in try Value(from: decoder) }
  }

  /// Any JSON value; nil if it is missing or `null`.
  ///
  /// That of a request is read from the whole text: decoding it by attempts takes a time that grows with the cube of
  /// its depth.
  mutating func readValue(_ key: Key) -> JSONValue? {
    guard members.codingPath.isEmpty, let text else { return read(key) }
    let value = members.contains(key) ? JSONValue(text)?.members?[key.stringValue] : nil
    return value == .null ? nil : value
  }

  /// Adds a fault for each member that the object does not have, if it is part of a request.
  mutating func requireKnown(_ decoder: any Decoder) throws {
    let isRequest = CodingUserInfoKey.isRequest.flatMap { decoder.userInfo[$0] as? Bool } ?? false
    guard isRequest else { return }
    let names = try decoder.container(keyedBy: MemberName.self).allKeys.map(\.stringValue)
    let known = Key.allCases.map(\.stringValue)
    let object = ServiceError.name(of: decoder.codingPath)
    for fault in ServiceError(members: names, known: known)?.faults ?? [] {
      let name = object.isEmpty ? fault.member : "\(object).\(fault.member)"
      faults.append(.init(name, fault.code, fault.reason))
    }
  }

  /// - Throws: all faults, as one error.
  func throwFaults() throws(ServiceError) {
    if let error = ServiceError(faults) { throw error }
  }

  private mutating func attempt<Value>(
    _ key: Key, _ read: (KeyedDecodingContainer<Key>) throws -> Value
  ) -> Value? {
    attempt(at: members.codingPath + [key], read)
  }

  private mutating func attempt<Value>(
    at path: [any CodingKey], _ read: (KeyedDecodingContainer<Key>) throws -> Value
  ) -> Value? {
    do {
      return try read(members)
    } catch {
      let error = (error as? DecodingError).map { ServiceError($0) } ?? error as? ServiceError
      let name = ServiceError.name(of: path)
      let known = error?.faults ?? []
      faults +=
        known.isEmpty
        ? [.init(name, error?.code ?? .invalidRequest, error?.reason ?? "\(name) is not valid.")]
        : known
      return nil
    }
  }
}
