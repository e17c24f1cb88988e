/// Payloads by the lane that sends them.
extension AnnouncementForm {
  /// Whether the lane's payloads have Apple's form; Web Push and Firebase have one of their own.
  package static func isApples(_ lane: String) -> Bool {
    lane != FCMProvider.lane && WebPushLane.origin(of: lane) == nil
  }

  /// The payload for a lane.
  package func text(of content: AnnouncementContent, lane: String) -> PushPayload {
    Self.isApples(lane) ? text(of: content) : webText(of: content)
  }
}

extension PushPayload {
  /// A plain alert without media for a lane.
  package static func plainAlert(_ text: String, lane: String) -> PushPayload {
    AnnouncementForm.isApples(lane) ? plainAlert(text) : webAlert(text)
  }
}
