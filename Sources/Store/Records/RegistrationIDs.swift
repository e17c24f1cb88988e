/// Ids of registrations in one piece of memory: a million strings would take three times as much.
package struct RegistrationIDs: Sendable, Hashable, ExpressibleByArrayLiteral {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  /// Holds these ids.
  package init(_ ids: some Sequence<String>) { for id in ids { append(id) } }

  /// Holds the ids of the literal.
  package init(arrayLiteral ids: String...) { self.init(ids) }

  /// Adds an id.
  package mutating func append(_ id: String) {
    bytes.append(contentsOf: id.utf8)
    ends.append(bytes.count)
  }
}

extension RegistrationIDs: RandomAccessCollection {
  /// The bounds of its positions.
  package var startIndex: Int { 0 }
  package var endIndex: Int { ends.count }

  package subscript(index: Int) -> String {
    let start = index == 0 ? 0 : ends[index - 1]
    return String(decoding: bytes[start..<ends[index]], as: UTF8.self)
  }
}
