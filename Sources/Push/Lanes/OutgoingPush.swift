package import FoundationEssentials

/// One push on its way out.
package struct OutgoingPush: Sendable, Hashable {
  /// Whom a push service is to give it to.
  package enum Target: Sendable, Hashable {
    /// One device by its token; the platform is the tutorial's word (`apns`, `gcm`, …).
    case device(handle: String, platform: String)
    /// Every device that the service itself has registered for the tags (Azure only).
    case audience(TagExpression)

    /// The token of an Apple device, as hexadecimal digits; nil for everything else.
    var appleToken: String? {
      guard case .device(let handle, "apns") = self, !handle.isEmpty,
        handle.utf8.allSatisfy(\.isHexDigit)
      else { return nil }
      return handle
    }
  }

  /// A lower-case UUID; the same on every repetition, so that a device can tell a duplicate.
  package let id: String
  package let target: Target
  package let text: PushText
  /// Pushes with the same collapse id (at most 64 bytes) replace each other on the device.
  package let collapseID: String?
  /// After this time nobody wants to see it any more.
  package let expires: Date?

  package init(
    id: String, target: Target, text: PushText, collapseID: String? = nil, expires: Date? = nil
  ) {
    self.id = id
    self.target = target
    self.text = text
    self.collapseID = collapseID
    self.expires = expires
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
