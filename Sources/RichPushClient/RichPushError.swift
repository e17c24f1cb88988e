public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Why a request brought nothing.
public struct RichPushError: Error, Sendable {
  /// What kind of failure it was, for a program to decide on.
  public enum Code: Sendable {
    /// The server could not be reached, or the connection broke.
    case unreachable
    /// The user or the password is wrong.
    case unauthorized
    /// There is no such thing, or it is not for this user.
    case notFound
    /// The server refuses the request as it stands; repeating it will not help.
    case refused
    /// The server is busy or cannot do it now; repeating it later may help.
    case unavailable
    /// What came is not what a richpush server sends.
    case malformed
    /// A file that was to be sent is none, or cannot be read here; nothing was asked of the server.
    case unreadable
  }

  /// What kind of failure it was.
  public let code: Code
  /// A sentence for a person; the server's own where it gave one.
  public let reason: String
  /// The answer's HTTP status, when there was an answer.
  public let status: Int?
  /// How many seconds the server asks to wait before the next try.
  public let retryAfter: Double?

  init(_ code: Code, _ reason: String, status: Int? = nil, retryAfter: Double? = nil) {
    self.code = code
    self.reason = reason
    self.status = status
    self.retryAfter = retryAfter
  }

  /// The error of a transfer that brought no answer.
  init(transfer error: any Error, to endpoint: URL) {
    if let error = error as? URLError, error.code == .cancelled, !Task.isCancelled {
      self.init(.unauthorized, "The user or the password is wrong.", status: 401)
      return
    }
    let cause = (error as NSError).localizedDescription
    self.init(.unreachable, "\(endpoint.absoluteString) cannot be reached: \(cause)")
  }

  /// The error an answer stands for, or nil when its status is 2xx.
  init?(_ response: URLResponse, body: @autoclosure () -> Data) {
    guard let response = response as? HTTPURLResponse else { return nil }
    let status = response.statusCode
    guard !(200..<300).contains(status) else { return nil }
    let code: Code =
      switch status {
      case 401, 403: .unauthorized
      case 404, 410: .notFound
      case 429, 500...: .unavailable
      default: .refused
      }
    let problem = try? JSONDecoder().decode(Problem.self, from: body())
    let sentence = problem?.detail ?? problem?.title
    self.init(
      code, sentence ?? "The server answered \(status) without saying why.", status: status,
      retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init))
  }

  /// The same for a body that was saved to a file, of which a problem is only the beginning.
  init?(_ response: URLResponse, bodyAt file: URL) {
    self.init(response, body: Self.beginning(of: file))
  }

  private static func beginning(of file: URL) -> Data {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return Data() }
    defer { try? handle.close() }
    return (try? handle.read(upToCount: 65_536)) ?? Data()
  }
}

extension RichPushError: LocalizedError, CustomStringConvertible {
  /// The reason.
  public var description: String { reason }
  /// The reason.
  public var errorDescription: String? { reason }
}

/// The members of `application/problem+json` (RFC 9457) that a person reads.
private struct Problem: Decodable {
  let title: String?
  let detail: String?
}
