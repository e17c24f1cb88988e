/// Which values a merge patch may give to a member of a payload.
///
/// Where nothing else is said, it may also remove the member.
indirect enum PayloadRule: Sendable {
  case anything
  case string
  case bool
  /// A number in a range.
  case number(ClosedRange<Double>)
  /// A number without a fraction, in a range.
  case integer(ClosedRange<Double>)
  /// One of these strings.
  case word([String])
  /// A string of a form, such as `a duration such as 3.5s`.
  case text(_ form: String, @Sendable (String) -> Bool)
  case list(PayloadRule)
  /// An object with the members that have a rule.
  case object(@Sendable (_ member: String) -> PayloadRule?)
  case either(PayloadRule, PayloadRule)
  /// Another value, but no removal.
  case kept(PayloadRule)
  /// A removal only, for a reason.
  case removed(String)
  /// No change, for a reason.
  case fixed(String)

  /// An object with these members; `others` is the rule of those that are not named, or nil if there are none.
  static func object(
    _ members: [String: PayloadRule], others: PayloadRule? = nil
  ) -> PayloadRule {
    .object { members[$0] ?? others }
  }

  /// All that is wrong with a patch of a member.
  func faults(in patch: JSONValue, at member: String) -> [ServiceError.Fault] {
    func fault(_ rule: String) -> [ServiceError.Fault] {
      [ServiceError.Fault(member, .rejected, "\(member) \(rule).")]
    }
    switch self {
    case .kept(let rule):
      return patch == .null ? fault("cannot be removed") : rule.faults(in: patch, at: member)
    case .fixed(let reason): return fault("cannot be changed: \(reason)")
    case .removed(let reason):
      return patch == .null ? [] : fault("can only be removed, by null: \(reason)")
    default: break
    }
    if patch == .null { return [] }
    switch (self, patch) {
    case (.anything, _), (.string, .string), (.bool, .bool): return []
    case (.number(let range), .number(let number)) where range.contains(number): return []
    case (.integer(let range), .number(let number))
    where range.contains(number) && number == number.rounded(): return []
    case (.word(let words), .string(let text)) where words.contains(text): return []
    case (.text(_, let isRight), .string(let text)) where isRight(text): return []
    case (.list(let rule), .array(let items)):
      return items.enumerated().flatMap { index, item in
        PayloadRule.kept(rule).faults(in: item, at: "\(member)[\(index)]")
      }
    case (.object(let rule), .object(let members)):
      return members.sorted { $0.key < $1.key }.flatMap { name, value in
        // Only a name without special characters can be a step of a path.
        let isStep = name.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil
        guard let rule = rule(name) else {
          let unknown = "has no \(String(name.prefix(64)).quoted) that can be set"
          return isStep
            ? [ServiceError.Fault("\(member).\(name)", .rejected, "\(member) \(unknown).")]
            : fault(unknown)
        }
        return rule.faults(in: value, at: isStep ? "\(member).\(name)" : member)
      }
    case (.either(let first, let second), _):
      guard let rule = [first, second].first(where: { $0.takes(patch) }) else {
        return fault("is not \(noun)")
      }
      return rule.faults(in: patch, at: member)
    default: return fault("is not \(noun)")
    }
  }

  /// Whether it is for values of this kind.
  private func takes(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.string, .string), (.word, .string), (.text, .string), (.number, .number),
      (.integer, .number), (.bool, .bool), (.list, .array), (.object, .object):
      true
    default: false
    }
  }

  /// What a value has to be, for people.
  private var noun: String {
    switch self {
    case .anything, .fixed, .removed: "a value"
    case .string: "a string"
    case .bool: "true or false"
    case .number(let range): "a number from \(Self.text(range))"
    case .integer(let range): "a whole number from \(Self.text(range))"
    case .word(let words): words.count == 1 ? words[0] : "one of \(words.joined(separator: ", "))"
    case .text(let form, _): form
    case .list: "an array"
    case .object: "a JSON object"
    case .either(let first, let second): "\(first.noun) or \(second.noun)"
    case .kept(let rule): rule.noun
    }
  }

  private static func text(_ range: ClosedRange<Double>) -> String {
    [range.lowerBound, range.upperBound]
      .map { Int(exactly: $0).map(String.init) ?? "\($0)" }.joined(separator: " to ")
  }
}
