import FoundationEssentials

/// What a response of Firebase means for a push.
struct FCMResult {
  /// A quota is for a minute.
  private static let quotaPause = Duration.seconds(60)

  /// The outcome, unless the push is sent again with a new access token.
  let outcome: PushOutcome
  /// Whether the access token was rejected: it may have been revoked before its time.
  let isTokenRejected: Bool

  init(_ response: CurlTransfer.Response, at now: Date) {
    switch response {
    case .failure(let failure):
      outcome = .unavailable(after: nil, reason: "Firebase can't be reached: \(failure.reason).")
      isTokenRejected = false
    case .success(let response):
      let error = response.status == 200 ? nil : FCMErrorBody(response)
      isTokenRejected = response.status == 401 && error?.code != "THIRD_PARTY_AUTH_ERROR"
      outcome =
        response.status == 200
        ? .delivered(reference: Self.name(in: response)) : Self.outcome(response, error, at: now)
    }
  }

  /// The service's name for the message.
  private static func name(in response: ServiceResponse) -> String? {
    struct Sent: Decodable { let name: String }
    let sent = try? JSONDecoder().decode(Sent.self, from: Data(response.body))
    return (sent?.name).map { ServiceResponse.line($0) }
  }

  /// The outcome of an error (firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
  ///
  /// A registration ends only if Firebase itself says so: other programs on the way answer 404, too.
  private static func outcome(
    _ response: ServiceResponse, _ error: FCMErrorBody?, at now: Date
  ) -> PushOutcome {
    let after = response.retryAfter(at: now)
    let text =
      "Firebase answered \(response.status)" + (error.map { " \($0.code): \($0.message)" } ?? ".")
    switch (response.status, error?.code) {
    case (404, "UNREGISTERED"): return .deadToken(since: nil, reason: text)
    case (400, _) where error?.namesToken == true: return .deadToken(since: nil, reason: text)
    case (403, "SENDER_ID_MISMATCH"):
      return .refused(
        reason: text + " The device registered with another Firebase project than this account's.")
    case (401, "THIRD_PARTY_AUTH_ERROR"):
      // The device is no Android device; those must not wait for its certificate.
      return .retry(
        after: .seconds(300), reason: text + " Check the APNs or Web Push key in Firebase.")
    case (401, _):
      return .laneStopped(
        reason: text + " Check the service account, its key and the machine's clock.")
    case (403, _):
      return .laneStopped(
        reason: text + " The service account needs the right to send, and the project the "
          + "Firebase Cloud Messaging API.")
    case (404, _), (300..<400, _):
      return .laneStopped(reason: text + " Check the project and the endpoint.")
    case (429, _) where error?.isDeviceQuota == true:
      return .retry(after: max(after ?? .zero, quotaPause), reason: text)
    case (429, _): return .unavailable(after: max(after ?? .zero, quotaPause), reason: text)
    case (408, _), (500..., _): return .unavailable(after: after, reason: text)
    default: return .rejected(reason: text)
    }
  }
}

/// The body of an error (`google.rpc.Status`).
private struct FCMErrorBody {
  /// Firebase's code, or else that of Google's APIs.
  let code: String
  let message: String
  /// Whether it says that the device's token is invalid.
  let namesToken: Bool
  /// Whether one device got too many messages, not all devices together.
  let isDeviceQuota: Bool

  /// Whether a sentence is about the registration token and nothing else: it begins with it, since what follows may
  /// quote the message.
  private static func blamesToken(_ sentence: String) -> Bool {
    let words = /(the )?(provided )?(fcm )?registration token is (not (a )?valid|invalid)/
    let adjective = /(invalid|malformed) (fcm )?registration token/
    let text = sentence.drop { $0.isWhitespace }.lowercased()
    return text.prefixMatch(of: words) != nil || text.prefixMatch(of: adjective) != nil
  }

  private struct Body: Decodable {
    struct Status: Decodable {
      let status: String?
      let message: String?
      let details: [Detail]?
    }

    struct Detail: Decodable {
      let errorCode: String?
      let fieldViolations: [FieldViolation]?
      let violations: [QuotaViolation]?
    }

    struct FieldViolation: Decodable { let field: String? }

    struct QuotaViolation: Decodable {
      let subject: String?
      let description: String?
    }

    let error: Status
  }

  /// Nil if the body is not such a text: something else on the way answered, often with HTML.
  init?(_ response: ServiceResponse) {
    guard let error = try? JSONDecoder().decode(Body.self, from: Data(response.body)).error else {
      return nil
    }
    let details = error.details ?? []
    let code = details.lazy.compactMap(\.errorCode).first ?? error.status ?? ""
    self.code = ServiceResponse.line(code.prefix(40))
    message = ServiceResponse.line(error.message ?? "")
    let violations = details.flatMap { $0.fieldViolations ?? [] }
    // Firebase leaves the field out when the token has not even the form of one.
    namesToken =
      violations.isEmpty
      ? code == "INVALID_ARGUMENT" && Self.blamesToken(error.message ?? "")
      : violations.contains { $0.field == "message.token" }
    isDeviceQuota = details.contains {
      $0.violations?.contains {
        "\($0.subject ?? "") \($0.description ?? "")".lowercased().contains("device")
      } == true
    }
  }
}
