import FoundationEssentials
import Primitives
import Synchronization

/// The access token of a service account (RFC 6749), shared by all pushes.
///
/// However many pushes wait for one, there is one exchange at a time. After four fifths of a token's life it is
/// renewed while pushes still use it.
final class FCMAccessToken: Sendable {
  /// The part of its life after which a token is renewed.
  private static let renewalPart = 0.8
  /// After a failed renewal the next one waits so long, in seconds, while the token is still valid.
  private static let renewalPause: TimeInterval = 60

  /// A token, and when it was issued and ends.
  struct Issue: Sendable, Equatable {
    let text: String
    let issued: Date
    let expires: Date
  }

  /// Why there is no token.
  struct Failure: Error, CustomStringConvertible {
    let outcome: PushOutcome

    var description: String { outcome.reason ?? "" }
  }

  typealias Exchange = Task<Result<Issue, Failure>, Never>

  private enum Step {
    case use(Issue)
    case wait(Exchange)
  }

  private struct State {
    var issue: Issue?
    var exchange: (number: Int, task: Exchange)?
    var exchanges = 0
    var nextRenewal = Date.distantPast
  }

  private let credentials: FCMCredentials
  private let client: CurlClient
  private let now: @Sendable () -> Date
  private let state = Mutex(State())

  init(_ credentials: FCMCredentials, client: CurlClient, now: @escaping @Sendable () -> Date) {
    (self.credentials, self.client, self.now) = (credentials, client, now)
  }

  /// The token to use now; waits for an exchange only if there is no valid one.
  func issue() async throws(Failure) -> Issue { try await issue(besides: nil) }

  /// A token other than the rejected one.
  func replacement(for rejected: Issue) async throws(Failure) -> Issue {
    try await issue(besides: rejected)
  }

  private func issue(besides rejected: Issue?) async throws(Failure) -> Issue {
    let now = self.now()
    let step = state.withLock { state -> Step in
      let issue = state.issue.flatMap { $0 != rejected && $0.expires > now ? $0 : nil }
      if let issue {
        // A clock that was set back must not keep a token for ever.
        let age = now.timeIntervalSince(issue.issued)
        let life = issue.expires.timeIntervalSince(issue.issued)
        if (0..<life * Self.renewalPart).contains(age) || now < state.nextRenewal {
          return .use(issue)
        }
        state.nextRenewal = now + Self.renewalPause
      }
      let exchange = exchange(&state)
      return issue.map(Step.use) ?? .wait(exchange)
    }
    switch step {
    case .use(let issue): return issue
    case .wait(let exchange):
      let result = await withTaskCancellationHandler {
        await exchange.value
      } onCancel: {
        exchange.cancel()
      }
      return try result.get()
    }
  }

  /// The exchange that is under way, or a new one.
  private func exchange(_ state: inout State) -> Exchange {
    if let exchange = state.exchange { return exchange.task }
    state.exchanges += 1
    let number = state.exchanges
    let task = Exchange { [self] in
      let result = await exchange()
      self.state.withLock { state in
        if state.exchange?.number == number { state.exchange = nil }
        if case .success(let issue) = result {
          (state.issue, state.nextRenewal) = (issue, .distantPast)
        }
      }
      return result
    }
    state.exchange = (number, task)
    return task
  }

  private struct Answer: Decodable {
    let access_token: String
    let expires_in: Double?
  }

  /// Exchanges an assertion for a token (RFC 7523, section 2.1).
  private func exchange() async -> Result<Issue, Failure> {
    let now = self.now()
    let assertion: String
    do throws(PushError) {
      assertion = try credentials.assertion(issued: now)
    } catch {
      return .failure(Failure(outcome: .laneStopped(reason: error.reason)))
    }
    let grant = PercentEncoding.encode("urn:ietf:params:oauth:grant-type:jwt-bearer")
    let request = ServiceRequest(
      url: credentials.tokenURL,
      fields: [("Content-Type", "application/x-www-form-urlencoded")],
      body: "grant_type=\(grant)&assertion=\(assertion)")
    switch await client.send(request) {
    case .failure(let failure):
      return .failure(
        Failure(
          outcome: .unavailable(
            after: nil, reason: "Google's token service can't be reached: \(failure.reason).")))
    case .success(let response):
      return issue(response, at: now)
    }
  }

  private func issue(_ response: ServiceResponse, at now: Date) -> Result<Issue, Failure> {
    let text = "Google's token service answered \(response.status)"
    let detail = ServiceResponse.line(response.text)
    switch response.status {
    case 200:
      guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)),
        !answer.access_token.isEmpty,
        answer.access_token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
      else {
        return .failure(
          Failure(outcome: .unavailable(after: nil, reason: text + " without an access token.")))
      }
      let life = min(max(answer.expires_in ?? 3600, 60), 86_400)
      return .success(Issue(text: answer.access_token, issued: now, expires: now + life))
    case 408, 425, 429, 500...:
      return .failure(
        Failure(outcome: .unavailable(after: response.retryAfter(at: now), reason: text + ".")))
    default:
      return .failure(
        Failure(
          outcome: .laneStopped(
            reason: "\(text): \(detail) Check the service account, its key and the machine's clock."
          )
        ))
    }
  }
}
