import FoundationEssentials

/// A list of texts in one column, as JSON; it is parsed only when somebody asks for the items.
struct StringList: Sendable, Equatable, RawRepresentable, Column {
  let rawValue: String

  init(rawValue: String) {
    self.rawValue = rawValue
  }

  init(_ items: [String]) {
    // Encoding strings as JSON can't fail.
    let data = (try? JSONEncoder().encode(items)) ?? Data("[]".utf8)
    rawValue = String(decoding: data, as: UTF8.self)
  }

  var items: [String] {
    (try? JSONDecoder().decode([String].self, from: Data(rawValue.utf8))) ?? []
  }
}
