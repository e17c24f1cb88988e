import RichPushAPI

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a request failed.
public struct RichPushError: Error, Sendable {
  /// The kind of failure, for programs.
  public enum Code: Sendable {
    /// The server could not be reached, or the connection broke.
    case unreachable
    /// The user or the password is wrong.
    case unauthorized
    /// It does not exist, or this user may not see it.
    case notFound
    /// The server refuses the request; repeating it will not help.
    case refused
    /// The server is busy, or something that it needs is away; repeating the request later may help.
    case unavailable
    /// A plugin or the server itself failed; repeating the request will hardly help before somebody mends it.
    case failed
    /// The response is not one of a richpush server.
    case malformed
    /// The file to upload cannot be read; no request was sent.
    case unreadable
  }

  /// The kind of failure.
  public let code: Code
  /// A sentence for people, from the server if it sent one.
  public let reason: String
  /// The HTTP status, if there was a response.
  public let status: Int?
  /// The number of seconds after which to try again, if the server sent one or a date; a day at most.
  public let retryAfter: Double?

  init(_ code: Code, _ reason: String, status: Int? = nil, retryAfter: Double? = nil) {
    self.code = code
    self.reason = reason
    self.status = status
    self.retryAfter = retryAfter
  }

  /// The error of a transfer without a response.
  init(transfer error: any Error, to endpoint: URL) {
    self.init(
      .unreachable,
      "\(endpoint.absoluteString) cannot be reached: \(HTTPTransport.cause(of: error))")
  }

  private static let failures: Set<String?> = [
    ServiceError.Code.pluginFailed.rawValue, ServiceError.Code.internalError.rawValue,
  ]

  /// The error of a response; nil if its status is 2xx.
  init?(_ response: HTTPResponse, body: @autoclosure () -> Data = Data()) {
    let status = response.status
    guard !(200..<300).contains(status) else { return nil }
    let problem = try? JSONCoding.decode(Problem.self, from: body())
    let code: Code =
      switch status {
      case 401, 403: .unauthorized
      case 404, 410: .notFound
      // A proxy's own 500 or 502 has no such code, and may pass.
      case 500, 502: Self.failures.contains(problem?.code) ? .failed : .unavailable
      case 408, 425, 429, 500...: .unavailable
      default: .refused
      }
    let sentence = problem?.detail ?? problem?.title
    self.init(
      code, sentence ?? "The server responded with \(status) and no reason.", status: status,
      retryAfter: response.fields["retry-after"].flatMap(RetryAfter.seconds))
  }
}

extension RichPushError: LocalizedError, CustomStringConvertible {
  /// The reason.
  public var description: String { reason }
  /// The reason.
  public var errorDescription: String? { reason }
}

/// The members of `application/problem+json` (RFC 9457) for people, and the one for programs.
private struct Problem: Decodable {
  let code: String?
  let title: String?
  let detail: String?
}
