import FoundationEssentials

/// What APNs answered, and what follows from it.
enum APNsVerdict: Equatable {
  /// The push's fate is known.
  case final(PushOutcome)
  /// The token belongs to the other environment, or to none.
  case wrongEnvironment
  /// The provider token is too old, or a clock is wrong.
  case expiredProviderToken
  /// Worth a second attempt at once, because the connection broke or is of no use any more; `then`
  /// holds if that goes no better.
  case again(onNewConnection: Bool, then: PushOutcome)
  /// The connection is of no use for a while; the push's fate is known.
  case leave(PushOutcome)

  private struct Complaint: Decodable {
    let reason: String
    /// Milliseconds since 1970: when the token was last known to be valid.
    let timestamp: Double?
  }

  /// Reads a response (developer.apple.com: Handling notification responses from APNs).
  init(_ response: TransferResponse, at now: Date) {
    guard response.status != 200 else {
      self = .final(.delivered(reference: response.field("apns-id")))
      return
    }
    let complaint = try? JSONDecoder().decode(Complaint.self, from: Data(response.body))
    let since = complaint?.timestamp.map { Date(timeIntervalSince1970: $0 / 1000) }
    self = Self.verdict(
      status: response.status, reason: TransferResponse.line(complaint?.reason ?? ""),
      since: since.flatMap { $0 <= now ? $0 : nil },
      after: HTTPTime.wait(response.field("retry-after"), at: now))
  }

  private static func verdict(
    status: Int, reason: String, since: Date?, after: Duration?
  ) -> APNsVerdict {
    let told = "APNs answered \(status)" + (reason.isEmpty ? "." : " \(reason).")
    return switch reason {
    case "BadDeviceToken": .wrongEnvironment
    case "DeviceTokenNotForTopic", "Unregistered", "ExpiredToken":
      .final(.deadToken(since: since, reason: told))
    case "ExpiredProviderToken": .expiredProviderToken
    case "InvalidProviderToken", "MissingProviderToken", "BadCertificate",
      "BadCertificateEnvironment", "Forbidden", "BadEnvironmentKeyIdInToken":
      .final(.laneStopped(reason: told + " Check key, key id, team id and the machine's clock."))
    case "UnrelatedKeyIdInToken":
      .again(
        onNewConnection: true,
        then: .laneStopped(reason: told + " The key is not of this connection's team."))
    case "TooManyProviderTokenUpdates":
      .leave(.unavailable(after: max(after ?? .zero, .seconds(60)), reason: told))
    case "TooManyRequests":
      .final(.retry(after: max(after ?? .zero, .seconds(30)), reason: told))
    case "IdleTimeout", "Shutdown":
      .again(onNewConnection: true, then: .unavailable(after: after, reason: told))
    default:
      switch status {
      case 410: .final(.deadToken(since: since, reason: told))
      case 429, 500...: .final(.unavailable(after: after, reason: told))
      case 300..<400, 403: .final(.laneStopped(reason: told + " Check key and address."))
      default: .final(.rejected(reason: told))
      }
    }
  }
}
