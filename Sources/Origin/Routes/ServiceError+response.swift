package import HTTP
import RichPushAPI

extension ServiceError {
  /// Of a notification that does not exist or is not the caller's: the response does not tell which.
  static let noSuchNotification = ServiceError(.notFound, "There is no such notification for you.")

  /// The response, a problem (RFC 9457).
  package var response: Response {
    var response = Response.problem(code.status, reason, code: code.rawValue)
    if let retryAfter { response.fields["Retry-After"] = String(retryAfter) }
    return response
  }
}

extension ServiceError.Code {
  /// The HTTP status of a response with this code (RFC 9110, section 15).
  package var status: Int {
    switch self {
    case .invalidRequest, .unknownField: 400
    case .unauthorized: 401
    case .forbidden: 403
    case .notFound: 404
    case .conflict, .alreadyFetched: 409
    case .gone: 410
    case .tooLarge: 413
    case .unsupportedType: 415
    case .rejected, .unknownRichType, .assetNotReady, .noRecipients: 422
    case .legallyUnavailable: 451
    case .internalError: 500
    case .pluginFailed: 502
    case .incomplete, .busy, .unavailable: 503
    case .pluginTimedOut: 504
    case .diskFull: 507
    }
  }
}
