import Primitives
import RichPushAPI

/// The payload of a push to one device, and how the push service has to treat it.
package struct PushPayload: Sendable, Hashable {
  /// The most bytes: 4 KB, the limit of APNs and of Azure alike.
  package static let limit = 4096
  /// The most bytes of a Web Push text, so that the encrypted message has 4,096 (RFC 8291, section 4).
  package static let webLimit = 3993

  /// The two kinds of push that Apple tells apart (`apns-push-type`).
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case background
    case alert
  }

  /// How a push service has to treat it.
  package let kind: Kind
  /// The exact JSON text.
  package let json: String

  init(_ kind: Kind, json: String) { (self.kind, self.json) = (kind, json) }
}

/// The payload of the pushes that announce a message, with gaps for what differs between devices.
package struct PayloadTemplate: Sendable, Hashable {
  /// The highest badge that is sent.
  static let highestBadge = 999_999

  /// How a push service has to treat it.
  package let kind: PushPayload.Kind
  /// Whether the message was shortened.
  package let isCut: Bool
  /// The size with the longest values in the gaps, in bytes.
  package let largestSize: Int
  /// The text, divided at its gaps.
  private let texts: [String]
  /// What comes after each text but the last.
  private let gaps: [PayloadGap]

  /// Whether it has a badge, for which the unread count has to be read.
  package var hasBadge: Bool { gaps.contains(.badge) }
  /// Whether it carries the secret of its push.
  package var hasSecret: Bool { gaps.contains(.secret) }

  /// The payload for one device.
  package func payload(badge: Int = 0, job: JobSuffix? = nil) -> PushPayload {
    var json = texts[0]
    for (gap, text) in zip(gaps, texts.dropFirst()) {
      switch gap {
      case .badge: json += String(min(badge, Self.highestBadge))
      case .job: json += job?.text ?? ""
      case .secret: json += job?.member ?? ""
      }
      json += text
    }
    return PushPayload(kind, json: json)
  }

  /// Fills `template`, changed by an `override`, with a message that loses its ThumbHash, and whose text and then its
  /// subtitle are shortened, until the payload has at most `limit` bytes.
  ///
  /// ``largestSize`` is above the limit if that is not enough.
  init(
    _ kind: PushPayload.Kind, _ message: PushMessage, limit: Int = PushPayload.limit,
    override: JSONValue? = nil, template whole: (PushMessage) -> String
  ) {
    let override = PayloadOverride(override)
    func template(_ message: PushMessage) -> String {
      let text = whole(message)
      return override?.applied(to: text) ?? text
    }
    var (fitted, isCut) = (message, false)
    func size() -> Int { Self.size(template(fitted)) }
    var text = template(fitted)
    if Self.size(text) > limit, fitted.thumbHash != nil {
      fitted.thumbHash = nil
      text = template(fitted)
    }
    for part in [\NotificationMessage.text.optional, \.subtitle] where Self.size(text) > limit {
      guard let whole = fitted.message[keyPath: part] else { continue }
      fitted.message[keyPath: part] = "x"
      let one = size()
      fitted.message[keyPath: part] = "xx"
      // A template may contain it more than once, and something else instead if there is none.
      let times = max(1, size() - one)
      let space = max(0, limit - one + times) / times
      fitted.message[keyPath: part] = Self.shorten(whole, to: space)
      text = template(fitted)
      isCut = true
    }
    (self.kind, self.isCut, largestSize) = (kind, isCut, Self.size(text))
    var (texts, gaps) = ([""], [PayloadGap]())
    for scalar in text.unicodeScalars {
      if let gap = PayloadGap(rawValue: scalar) {
        gaps.append(gap)
        texts.append("")
      } else {
        texts[texts.count - 1].unicodeScalars.append(scalar)
      }
    }
    (self.texts, self.gaps) = (texts, gaps)
  }

  private static func size(_ text: String) -> Int {
    text.utf8.reduce(0) { size, byte in
      size + (PayloadGap(rawValue: Unicode.Scalar(byte))?.longest ?? 1)
    }
  }

  /// The text, or its longest beginning that fits into `limit` bytes with an ellipsis.
  ///
  /// Counts the bytes of a JSON string literal without its quotes, and cuts between characters as a reader
  /// sees them (grapheme clusters).
  static func shorten(_ text: String, to limit: Int) -> String {
    func length(_ text: String) -> Int { JSONText.quoted(text).utf8.count - 2 }
    guard length(text) > limit else { return text }
    let ellipsis = "…"
    var left = limit - ellipsis.utf8.count
    guard left >= 0 else { return "" }
    let kept = text.prefix { character in
      left -= length(String(character))
      return left >= 0
    }
    return kept + ellipsis
  }
}

/// What a template leaves open, written as a control character: JSON text has none.
enum PayloadGap: Unicode.Scalar, Sendable {
  /// The unread count.
  case badge = "\u{1}"
  /// The job at the end of a link to media.
  case job = "\u{2}"
  /// The secret of the push, a member of its own behind the one in which this stands.
  case secret = "\u{3}"

  /// The longest value, in bytes.
  var longest: Int {
    switch self {
    case .badge: String(PayloadTemplate.highestBadge).utf8.count
    case .job: JobSuffix.longest.text.utf8.count
    case .secret: JobSuffix.longest.member.utf8.count
    }
  }
}

extension String {
  /// The same as an optional, to be one of several members of which some may be missing.
  fileprivate var optional: String? {
    get { self }
    set { self = newValue ?? "" }
  }
}
