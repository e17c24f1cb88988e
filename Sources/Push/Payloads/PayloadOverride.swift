import FoundationEssentials
import Primitives
import RichPushAPI

/// A publisher's change of finished payloads: a JSON merge patch (RFC 7396).
struct PayloadOverride {
  /// Stands for a gap where the text is parsed as JSON: nobody can guess it, so no message has it.
  private static let word = UUID().uuidString
  private static let (badge, job) = ("\"\(word)-badge\"", "\(word)-job")
  /// A member, which is sorted behind those that every payload has.
  private static let secret = ",\"~\(word)-secret\":true"

  private let patch: JSONValue

  /// What an override says of the payload; nil if it says nothing.
  init?(_ override: JSONValue?) {
    guard var members = override?.members else { return nil }
    members["headers"] = nil
    if members.isEmpty { return nil }
    patch = .object(members)
  }

  /// The text after the change, with the gaps that it had.
  func applied(to text: String) -> String {
    let parsed = text.replacing(PayloadGap.badge.text, with: Self.badge)
      .replacing(PayloadGap.job.text, with: Self.job)
      .replacing(PayloadGap.secret.text, with: Self.secret)
    guard let payload = JSONValue(parsed.utf8) else { return text }
    return JSONText.of(payload.merging(patch))
      .replacing(Self.badge, with: PayloadGap.badge.text)
      .replacing(Self.job, with: PayloadGap.job.text)
      .replacing(Self.secret, with: PayloadGap.secret.text)
  }
}
