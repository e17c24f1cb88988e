import JSON

/// A field that a person fills in for content of a rich type; an item of `form` in its plugin's `plugin.json`.
package struct FormField: Sendable, Hashable {
  /// What its value is.
  package enum Kind: String, Sendable, CaseIterable {
    /// A line of text.
    case text
    /// Text of several lines.
    case longtext
    case number
    /// A day, such as `2030-12-24`.
    case date
    /// A link with the scheme `https` or `http`.
    case url
    /// One of the field's choices.
    case choice
    /// Yes or no.
    case boolean
  }

  /// One of the values of a ``Kind/choice``.
  package struct Choice: Sendable, Hashable {
    package let value: String
    /// What people read, by language.
    package let label: [String: String]
  }

  /// A value that a field takes.
  package enum Value: Sendable, Hashable {
    case text(String)
    case number(Double)
    case bool(Bool)
  }

  /// The member of the payload that it fills in.
  package let name: String
  /// What people read, by language.
  package let label: [String: String]
  package let kind: Kind
  package let isRequired: Bool
  /// The values of a ``Kind/choice``; empty for other kinds.
  package let choices: [Choice]
  /// A value that it takes.
  package let example: Value?
  /// The bounds of a number; nil if there is none.
  package let minimum, maximum: Double?
  /// The longest text, in characters (Unicode scalars); nil for other kinds.
  package let maxLength: Int?
}

extension FormField {
  /// The most fields of a form.
  package static let most = 20
  private static let mostChoices = 50
  private static let longestLabel = 60
  private static let longestChoice = 100
  private static let longestURL = 2000
  private static let members = [
    "name", "label", "kind", "required", "choices", "example", "minimum", "maximum", "maxLength",
  ]

  /// Reads the member `form` of `plugin.json`.
  ///
  /// - Throws: ``PluginProblem`` that says where it is wrong, such as `"form[2].kind"`.
  static func fields(_ form: JSONTree) throws(PluginProblem) -> [FormField] {
    guard case .array(let items) = form, (1...most).contains(items.count) else {
      throw PluginProblem("\"form\" must be an array of 1 to \(most) fields")
    }
    var fields: [FormField] = []
    for (index, item) in items.enumerated() {
      let field = try FormField(item, at: "form[\(index)]")
      try PluginProblem.require(
        !fields.contains { $0.name == field.name },
        "\"form[\(index)].name\" is \"\(field.name)\", as that of another field")
      fields.append(field)
    }
    return fields
  }

  private init(_ item: JSONTree, at place: String) throws(PluginProblem) {
    guard case .object(let given) = item else {
      throw PluginProblem("\"\(place)\" must be an object")
    }
    if let unknown = given.keys.filter({ !Self.members.contains($0) }).min() {
      throw PluginProblem("\"\(place).\(unknown)\" is not a member it can have")
    }
    guard let name = item["name"]?.text, Self.isName(name) else {
      throw PluginProblem(
        "\"\(place).name\" must be a letter and up to 31 letters, digits, hyphens and underscores")
    }
    self.name = name
    label =
      try item["label"].map { label throws(PluginProblem) in
        try Self.label(label, at: "\(place).label")
      } ?? ["en": name]
    let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
    guard let kind = item["kind"].map({ Kind(rawValue: $0.text ?? "") }) ?? .text else {
      throw PluginProblem("\"\(place).kind\" must be one of \(kinds)")
    }
    self.kind = kind
    switch item["required"] {
    case .bool(let required): isRequired = required
    case nil: isRequired = false
    default: throw PluginProblem("\"\(place).required\" must be true or false")
    }
    choices = try Self.choices(item["choices"], of: kind, at: "\(place).choices")
    minimum = try Self.bound(item["minimum"], of: kind, at: "\(place).minimum")
    maximum = try Self.bound(item["maximum"], of: kind, at: "\(place).maximum")
    try PluginProblem.require(
      minimum ?? -.infinity <= maximum ?? .infinity,
      "\"\(place).minimum\" must not be above \"maximum\"")
    maxLength = try Self.length(item["maxLength"], of: kind, at: "\(place).maxLength")
    let value = item["example"]
    example =
      switch value {
      case .string(let text): .text(text)
      case .number(let number): .number(number)
      case .bool(let bool): .bool(bool)
      default: nil
      }
    if let value, let rule = fault(in: value) {
      throw PluginProblem("\"\(place).example\" \(rule)")
    }
  }

  /// Reads what people are shown: a text, which counts as English, or texts by language.
  ///
  /// - Throws: ``PluginProblem`` with the place.
  static func label(_ label: JSONTree, at place: String) throws(PluginProblem) -> [String: String] {
    let given: [String: JSONTree]
    switch label {
    case .string: given = ["en": label]
    case .object(let texts): given = texts
    default: throw PluginProblem("\"\(place)\" must be a text, or texts by language")
    }
    try PluginProblem.require(
      (1...32).contains(given.count), "\"\(place)\" must have from 1 to 32 languages")
    var texts: [String: String] = [:]
    for (language, text) in given.sorted(by: { $0.key < $1.key }) {
      try PluginProblem.require(
        language.wholeMatch(of: /[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}/) != nil,
        "\"\(place)\" must be a text, or texts by language, such as \"en\"")
      guard let text = text.text, isLine(text, longest: longestLabel), !text.isBlank else {
        throw PluginProblem("\"\(place)\" must be a line of 1 to \(longestLabel) characters")
      }
      texts[language] = text
    }
    return texts
  }

  private static func choices(
    _ list: JSONTree?, of kind: Kind, at place: String
  ) throws(PluginProblem) -> [Choice] {
    guard kind == .choice else {
      try PluginProblem.require(list == nil, "\"\(place)\" is for the kind choice only")
      return []
    }
    guard let items = list?.elements, (1...mostChoices).contains(items.count) else {
      throw PluginProblem("\"\(place)\" must be an array of 1 to \(mostChoices) choices")
    }
    var choices: [Choice] = []
    for (index, item) in items.enumerated() {
      var members: [String: JSONTree] = [:]
      if case .object(let given) = item { members = given }
      let value = item.text ?? members["value"]?.text ?? ""
      try PluginProblem.require(
        members.keys.allSatisfy { ["value", "label"].contains($0) } && !value.isBlank
          && isLine(value, longest: longestChoice) && !choices.contains { $0.value == value },
        "\"\(place)[\(index)]\" must be a line of 1 to \(longestChoice) characters that no other "
          + "choice has, or an object of such a \"value\" and its \"label\"")
      let label = try item["label"].map { label throws(PluginProblem) in
        try Self.label(label, at: "\(place)[\(index)].label")
      }
      choices.append(Choice(value: value, label: label ?? ["en": value]))
    }
    return choices
  }

  private static func bound(
    _ number: JSONTree?, of kind: Kind, at place: String
  ) throws(PluginProblem) -> Double? {
    guard let number else { return nil }
    guard kind == .number, case .number(let bound) = number, abs(bound) <= 1e15 else {
      throw PluginProblem("\"\(place)\" must be a number, and is for the kind number only")
    }
    return bound
  }

  private static func length(
    _ number: JSONTree?, of kind: Kind, at place: String
  ) throws(PluginProblem) -> Int? {
    let (usual, most) = kind == .text ? (200, 1000) : (2000, 10_000)
    guard [.text, .longtext].contains(kind) else {
      try PluginProblem.require(
        number == nil, "\"\(place)\" is for the kinds text and longtext only")
      return nil
    }
    guard let number else { return usual }
    guard let length = number.integer, (1...most).contains(length) else {
      throw PluginProblem("\"\(place)\" must be from 1 to \(most)")
    }
    return length
  }
}

// MARK: - Values

extension FormField {
  /// What is wrong with what was filled in.
  package struct Fault: Sendable, Hashable {
    /// The name of the member at fault; nil if it is the whole.
    package let name: String?
    /// What is wrong, as the end of a sentence about it: `is missing`.
    package let rule: String
  }

  /// All that is wrong with a payload, the text of a JSON object of what was filled in: the fields that are missing or
  /// have wrong values, in the form's order, and then members that are no fields.
  package static func faults(in payload: String, of form: [FormField]) -> [Fault] {
    guard let filled = JSONTree(payload.utf8), case .object(let values) = filled else {
      return [
        Fault(
          name: nil,
          rule: "must be an object with these members: \(form.map(\.name).joined(separator: ", "))")
      ]
    }
    let names = form.map(\.name)
    let unknown = values.keys.filter { !names.contains($0) && filled[$0] != nil }.sorted()
    return form.compactMap { field in
      guard let value = filled[field.name] else {
        return field.isRequired ? Fault(name: field.name, rule: "is missing") : nil
      }
      return field.fault(in: value).map { Fault(name: field.name, rule: $0) }
    }
      + unknown.prefix(10).map { name in
        Fault(
          name: isName(name) ? name : nil,
          rule: "has no place here; there are: \(names.joined(separator: ", "))")
      }
  }

  /// Whether a payload's member can have this name.
  private static func isName(_ name: String) -> Bool {
    name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]{0,31}/) != nil
  }

  /// What is wrong with a value, as the end of a sentence about it; nil if it takes the value.
  private func fault(in value: JSONTree) -> String? {
    switch (kind, value) {
    case (.text, .string(let text)):
      if isRequired, text.isBlank { return "is empty" }
      return Self.isLine(text, longest: maxLength ?? 0)
        ? nil : "must be a line of at most \(maxLength ?? 0) characters"
    case (.longtext, .string(let text)):
      if isRequired, text.isBlank { return "is empty" }
      return Self.isText(text, longest: maxLength ?? 0)
        ? nil : "must be a text of at most \(maxLength ?? 0) characters"
    case (.number, .number(let number)):
      let isInside = minimum ?? -.infinity <= number && number <= maximum ?? .infinity
      return number.isFinite && isInside ? nil : "must be \(numberNoun)"
    case (.date, .string(let text)) where Self.isDay(text): return nil
    case (.url, .string(let text)) where Self.isURL(text): return nil
    case (.choice, .string(let text)) where choices.contains { $0.value == text }: return nil
    case (.boolean, .bool): return nil
    case (.text, _): return "must be a text"
    case (.longtext, _): return "must be a text"
    case (.number, _): return "must be \(numberNoun)"
    case (.date, _): return "must be a day such as 2030-12-24"
    case (.url, _): return "must be a link that begins with https:// or http://"
    case (.choice, _):
      return "must be one of: \(choices.map(\.value).joined(separator: ", "))"
    case (.boolean, _): return "must be true or false"
    }
  }

  private var numberNoun: String {
    func text(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }
    return switch (minimum, maximum) {
    case (nil, nil): "a number"
    case (let least?, nil): "a number of at least \(text(least))"
    case (nil, let most?): "a number of at most \(text(most))"
    case (let least?, let most?): "a number from \(text(least)) to \(text(most))"
    }
  }

  private static func isLine(_ text: String, longest: Int) -> Bool {
    text.unicodeScalars.count <= longest
      && text.unicodeScalars.allSatisfy { scalar in
        ![.control, .lineSeparator, .paragraphSeparator].contains(
          scalar.properties.generalCategory)
      }
  }

  private static func isText(_ text: String, longest: Int) -> Bool {
    text.unicodeScalars.count <= longest
      && text.unicodeScalars.allSatisfy { scalar in
        scalar.properties.generalCategory != .control || "\n\r\t".unicodeScalars.contains(scalar)
      }
  }

  /// Whether it is a day of the calendar, from the year 1000 on.
  private static func isDay(_ text: String) -> Bool {
    guard let match = text.wholeMatch(of: /([1-9][0-9]{3})-([0-9]{2})-([0-9]{2})/),
      let year = Int(match.1), let month = Int(match.2), let day = Int(match.3)
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...12).contains(month) && (1...days[month - 1]).contains(day)
  }

  private static func isURL(_ text: String) -> Bool {
    text.utf8.count <= longestURL
      && text.wholeMatch(of: /(?i)https?:\/\/[^\s\/][^\s]*/) != nil
      && isLine(text, longest: longestURL)
  }
}

extension String {
  /// Whether there is nothing to read in it.
  fileprivate var isBlank: Bool { allSatisfy(\.isWhitespace) }
}
