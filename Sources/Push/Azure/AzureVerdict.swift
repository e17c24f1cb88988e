import FoundationEssentials

/// What an answer of Azure Notification Hubs means for a push.
enum AzureVerdict {
  static func delivery(for response: TransferResponse, at now: Date) -> PushOutcome {
    let after = HTTPTime.wait(response.field("retry-after"), at: now)
    let told = "Azure answered \(response.status): \(detail(of: response))"
    switch response.status {
    case 200, 201: return .delivered(reference: reference(in: response))
    case 401:
      return .laneStopped(reason: told + " Check the connection string and the machine's clock.")
    // Azure throttles with 403; only Retry-After tells it from a refusal.
    case 403 where after == nil:
      return .laneStopped(reason: told + " The key must allow to send, within the hub's quota.")
    case 300..<400, 404:
      return .laneStopped(reason: told + " Check the namespace and the hub's name.")
    case 403, 408, 429, 500...: return .unavailable(after: after, reason: told)
    default: return .rejected(reason: told)
    }
  }

  /// The text of `<Detail>` in an error, or the beginning of whatever came.
  private static func detail(of response: TransferResponse) -> String {
    let text = response.text
    guard let start = text.firstRange(of: "<Detail>"), let end = text.firstRange(of: "</Detail>"),
      start.upperBound <= end.lowerBound
    else { return TransferResponse.line(text) }
    return TransferResponse.line(text[start.upperBound..<end.lowerBound])
  }

  /// The message's id at the end of `Location: https://…/messages/<id>?api-version=…`.
  private static func reference(in response: TransferResponse) -> String? {
    guard let location = response.field("location") else { return nil }
    return location.prefix { $0 != "?" }.split(separator: "/").last.map(String.init)
  }
}
