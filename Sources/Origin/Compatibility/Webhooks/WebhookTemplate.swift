import Primitives
import RichPushAPI

/// What makes a notification of an event that was posted to a webhook.
///
/// It picks what is in the event and compares it: it computes nothing, so an event can neither make it busy nor choose
/// what it does.
struct WebhookTemplate: Sendable {
  /// What is done with an event.
  enum Action: Sendable, Equatable {
    /// Send this.
    case publish(NewNotification)
    /// Withdraw what was sent about a subject.
    case withdraw(subject: String)
    /// Nothing: no rule is for it.
    case ignore
  }

  /// What is done with the events that meet conditions.
  private struct Rule: Sendable {
    let conditions: [(path: EventPath, values: [JSONValue])]
    /// The members of the notification.
    let notification: [String: JSONValue]
    /// The subject of what is withdrawn instead.
    let withdrawn: EventText?
  }

  private let rules: [Rule]
  /// The fields of the head that it reads, in lower case.
  let fields: Set<String>

  /// The largest, in bytes.
  static let largest = 16 << 10
  private static let most = (rules: 50, placeholders: 64)

  /// Reads a template.
  ///
  /// - Throws: everything that is wrong with it.
  init(_ template: JSONValue) throws(ServiceError) {
    var reader = Reader()
    let size = JSONCoding.encode(template).count
    reader.require(size <= Self.largest, "", "must have at most \(Self.largest) bytes")
    if size <= Self.largest {
      rules = reader.rules(of: template)
    } else {
      rules = []
    }
    fields = reader.fields
    reader.require(
      reader.placeholders <= Self.most.placeholders, "",
      "must have at most \(Self.most.placeholders) placeholders")
    if let error = ServiceError(reader.faults) { throw error }
    // What an event without anything becomes has wrong members only if the template has them.
    for rule in rules where rule.withdrawn == nil {
      do throws(ServiceError) {
        _ = try Self.notification(rule.notification, WebhookEvent(body: .null), to: ["a"])
      } catch {
        throw ServiceError(.init("template", .rejected, "template: \(error.reason)"))
      }
    }
  }

  /// What is done with an event.
  ///
  /// Notifications without a `to` are for all of `audience`. `linkSchemes` are those that links may have beside `https`:
  /// another link that the event has is left out.
  ///
  /// - Throws: what is wrong with the notification that the event becomes.
  func action(
    for event: WebhookEvent, to audience: [String], linkSchemes: Set<String>
  ) throws(ServiceError) -> Action {
    let rule = rules.first { rule in
      rule.conditions.allSatisfy { path, values in
        let found = path.values(in: event)
        return found.isEmpty ? values.contains(.null) : found.contains(where: values.contains)
      }
    }
    guard let rule else { return .ignore }
    if let withdrawn = rule.withdrawn {
      guard let subject = withdrawn.text(for: event, as: .name) else {
        throw ServiceError(
          .init("withdraw", .rejected, "withdraw: the event has nothing for \(withdrawn.text)."))
      }
      return .withdraw(subject: subject)
    }
    var new = try Self.notification(rule.notification, event, to: audience)
    let wrong = Set(new.message.faults(allowing: linkSchemes).map(\.member))
    func isFromEvent(_ member: String) -> Bool {
      wrong.contains(member)
        && rule.notification[member]?.text.flatMap(EventText.init)?.beginsWithValue == true
    }
    if isFromEvent("link") { new.message.link = nil }
    if isFromEvent("icon") { new.message.icon = nil }
    return .publish(new)
  }

  // MARK: - Notifications

  private static func notification(
    _ members: [String: JSONValue], _ event: WebhookEvent, to audience: [String]
  ) throws(ServiceError) -> NewNotification {
    var all: [String: JSONValue] = [:]
    for (name, value) in members {
      let isForPrograms = ["data", "apns", "fcm", "webpush"].contains(name)
      all[name] =
        isForPrograms
        ? filled(value, event) { _ in .name } : filled(value, event, as: kind(name), kind)
    }
    if all["to"] == nil { all["to"] = .array(audience.map(JSONValue.string)) }
    return try JSONCoding.request(from: JSONCoding.encode(JSONValue.object(all)))
  }

  /// What a string is in a member of this name.
  private static func kind(_ member: String) -> EventText.Kind {
    switch member {
    case "message", "alt": .lines
    case "title", "subtitle", "label", "input": .line
    case "link": .link
    case "icon": .address
    default: .name
    }
  }

  /// A value with the event's in the place of placeholders; nil if nothing is left of a text.
  private static func filled(
    _ value: JSONValue, _ event: WebhookEvent, as own: EventText.Kind = .name,
    _ kind: (String) -> EventText.Kind
  ) -> JSONValue? {
    switch value {
    case .string(let text): EventText(text)?.text(for: event, as: own).map(JSONValue.string)
    case .array(let items): .array(items.compactMap { filled($0, event, as: own, kind) })
    case .object(let members):
      .object(
        Dictionary(
          uniqueKeysWithValues: members.compactMap { name, value in
            filled(value, event, as: kind(name), kind).map { (name, $0) }
          }))
    case .null, .bool, .number: value
    }
  }

  // MARK: - Reading

  /// Reads the parts of a template, and collects what is wrong with them.
  private struct Reader {
    private(set) var faults: [ServiceError.Fault] = []
    private(set) var placeholders = 0
    private(set) var fields: Set<String> = []

    mutating func require(_ isRight: Bool, _ member: String, _ rule: String) {
      guard !isRight else { return }
      let name = member.isEmpty ? "template" : "template.\(member)"
      faults.append(.init("template", .rejected, "\(name) \(rule)."))
    }

    mutating func rules(of template: JSONValue) -> [Rule] {
      guard let members = template.members else {
        require(false, "", "must be the name of a template, or an object")
        return []
      }
      requireKnown(members, ["notification", "rules"], "")
      let common = object(members["notification"], "notification")
      guard let value = members["rules"] else {
        check(common, "notification")
        require(!common.isEmpty, "", "must have rules or a notification")
        return [Rule(conditions: [], notification: common, withdrawn: nil)]
      }
      guard case .array(let items) = value, (1...most.rules).contains(items.count) else {
        require(false, "rules", "must be an array of 1 to \(most.rules) rules")
        return []
      }
      check(common, "notification")
      return items.enumerated().map { index, item in
        rule(object(item, "rules[\(index)]"), common, "rules[\(index)]")
      }
    }

    private mutating func rule(
      _ members: [String: JSONValue], _ common: [String: JSONValue], _ name: String
    ) -> Rule {
      requireKnown(members, ["when", "notification", "withdraw"], name)
      var conditions: [(path: EventPath, values: [JSONValue])] = []
      for (text, value) in object(members["when"], "\(name).when").sorted(by: { $0.key < $1.key }) {
        guard let path = EventPath(text) else {
          require(false, "\(name).when", "must have paths as names, not \(text.quoted)")
          continue
        }
        note(path)
        let values = if case .array(let items) = value { items } else { [value] }
        let isPlain = values.allSatisfy { value in
          switch value {
          case .array, .object: false
          default: true
          }
        }
        require(
          isPlain, "\(name).when.\(text)",
          "must be a string, a number, true, false or null, or an array of these")
        conditions.append((path, values))
      }
      let own = object(members["notification"], "\(name).notification")
      check(own, "\(name).notification")
      guard let withdrawn = members["withdraw"] else {
        let all = common.merging(own) { $1 }
        require(!all.isEmpty, name, "must have a notification, or withdraw")
        return Rule(conditions: conditions, notification: all, withdrawn: nil)
      }
      require(
        members["notification"] == nil, name, "must have either a notification or withdraw")
      let subject = withdrawn.text.flatMap { text($0, "\(name).withdraw") }
      require(
        withdrawn.text != nil, "\(name).withdraw", "must be what replaces is in another rule")
      return Rule(conditions: conditions, notification: [:], withdrawn: subject)
    }

    private mutating func object(_ value: JSONValue?, _ name: String) -> [String: JSONValue] {
      guard let value else { return [:] }
      require(value.members != nil, name, "must be an object")
      return value.members ?? [:]
    }

    private mutating func requireKnown(
      _ members: [String: JSONValue], _ known: [String], _ name: String
    ) {
      for member in members.keys.sorted() where !known.contains(member) {
        require(
          false, name, "has \(known.joined(separator: ", ")), and no \(member.quoted)")
      }
    }

    /// Checks the strings of a notification, which may have placeholders.
    private mutating func check(_ value: [String: JSONValue], _ name: String) {
      for (member, value) in value.sorted(by: { $0.key < $1.key }) {
        check(value, "\(name).\(String(member.prefix(60)))")
      }
      for member in ["replaces", "idempotencyKey"] {
        require(
          value[member].map { $0.text != nil } ?? true, "\(name).\(member)", "must be a string")
      }
    }

    private mutating func check(_ value: JSONValue, _ name: String) {
      switch value {
      case .string(let string): _ = text(string, name)
      case .array(let items): for item in items { check(item, name) }
      case .object(let members): check(members, name)
      case .null, .bool, .number: break
      }
    }

    private mutating func text(_ string: String, _ name: String) -> EventText? {
      guard let text = EventText(string) else {
        require(
          false, name,
          "must have {{ only in {{path}} and {{path|default}}, such as {{alerts[0].labels.job|none}}; a literal one is {{{{"
        )
        return nil
      }
      placeholders += text.count
      for path in text.paths.compactMap(EventPath.init) { note(path) }
      return text
    }

    private mutating func note(_ path: EventPath) {
      if let field = path.field { fields.insert(field) }
    }

    private var most: (rules: Int, placeholders: Int) { WebhookTemplate.most }
  }
}
