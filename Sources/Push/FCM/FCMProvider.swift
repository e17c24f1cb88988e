package import FoundationEssentials
import RichPushAPI

/// Firebase Cloud Messaging, by its HTTP v1 API.
package struct FCMProvider: ConfiguredPushService {
  package static let name = "fcm"
  package static let traits = PushTraits(
    platforms: [.firebase, .googleCloudMessaging], largestPayload: PushPayload.webLimit,
    // Firebase downloads at most a megabyte, which is the profile's limit.
    profile: "android", limitsSilentPushes: false,
    // Of more than four it drops messages.
    collapseLimit: CollapseLimit(count: 4, life: longestLife))
  /// For so many seconds Firebase holds a message at most: four weeks, as it does on its own.
  static let longestLife: TimeInterval = 28 * 24 * 3600

  package static let format = PayloadFormat.firebase(.data)
  package static func format(_ settings: FCMSettings) -> PayloadFormat { .firebase(settings.kind) }

  package func payload(of message: PushMessage) -> PayloadTemplate {
    .firebase(message, as: kind)
  }

  /// Each carries about a hundred requests at once.
  private static let connections = 8

  /// The project, the account and the endpoint.
  package let settings: String
  private let url: String
  private let kind: FCMMessageKind
  private let token: FCMAccessToken
  private let client: CurlClient
  private let now: @Sendable () -> Date

  /// A provider for one Firebase project; `endpoint` is an https URL without a slash at its end.
  package init(
    credentials: FCMCredentials, endpoint: String, kind: FCMMessageKind = .data,
    trustAnchor: String? = nil, timeout: Duration = .seconds(30),
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) {
    url = "\(endpoint)/v1/projects/\(credentials.project)/messages:send"
    settings = Signing.identifier(of: url, credentials.email)
    (self.kind, self.now) = (kind, now)
    client = try CurlClient(
      .init(
        trustAnchor: trustAnchor, connections: Self.connections, isMultiplexing: true,
        timeout: timeout))
    token = FCMAccessToken(credentials, client: client, now: now)
  }

  /// The provider of `--push fcm`.
  package init(
    _ settings: FCMSettings, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    try self.init(
      credentials: settings.credentials, endpoint: settings.endpoint, kind: settings.kind,
      trustAnchor: trustAnchor, now: now)
  }

  package var capacity: Int { 1000 }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    guard let message = message(of: push) else { return Self.noDevice }
    do throws(FCMAccessToken.Failure) {
      return await send(message, try await token.issue())
    } catch {
      return error.outcome
    }
  }

  /// Sends all first attempts together; a push whose access token was rejected is then sent on its own.
  package func send(
    _ pushes: [OutgoingPush], then: @escaping @Sendable (Int, PushOutcome) -> Void
  ) async {
    let messages = pushes.map(message)
    let indices = pushes.indices.filter { messages[$0] != nil }
    for index in pushes.indices where messages[index] == nil { then(index, Self.noDevice) }
    guard !indices.isEmpty else { return }
    let issue: FCMAccessToken.Issue
    do throws(FCMAccessToken.Failure) {
      issue = try await token.issue()
    } catch {
      for index in indices { then(index, error.outcome) }
      return
    }
    let requests = indices.compactMap { messages[$0] }.map { request($0, issue) }
    let (rejected, continuation) = AsyncStream.makeStream(of: Int.self)
    await withDiscardingTaskGroup { group in
      group.addTask {
        await client.send(requests) { position, response in
          let result = FCMResult(response, at: now())
          if result.isTokenRejected {
            continuation.yield(indices[position])
          } else {
            then(indices[position], result.outcome)
          }
        }
        continuation.finish()
      }
      for await index in rejected {
        group.addTask {
          guard let message = messages[index] else { return }
          then(index, await sendAgain(message, insteadOf: issue))
        }
      }
    }
  }

  private static let noDevice = PushOutcome.rejected(
    reason: "Firebase delivers to single devices only, and takes its own texts only.")

  private func message(of push: OutgoingPush) -> [UInt8]? {
    guard case .device(let handle, _) = push.target, !handle.isEmpty else { return nil }
    return FCMRequest(push, to: handle, isCollapsible: push.isCollapsible, at: now())?.json
  }

  private func send(_ message: [UInt8], _ issue: FCMAccessToken.Issue) async -> PushOutcome {
    let result = FCMResult(await client.send(request(message, issue)), at: now())
    guard result.isTokenRejected else { return result.outcome }
    return await sendAgain(message, insteadOf: issue)
  }

  /// Sends with a new access token, once.
  private func sendAgain(
    _ message: [UInt8], insteadOf rejected: FCMAccessToken.Issue
  ) async -> PushOutcome {
    do throws(FCMAccessToken.Failure) {
      let issue = try await token.replacement(for: rejected)
      return FCMResult(await client.send(request(message, issue)), at: now()).outcome
    } catch {
      return error.outcome
    }
  }

  private func request(_ message: [UInt8], _ issue: FCMAccessToken.Issue) -> ServiceRequest {
    ServiceRequest(
      url: url,
      fields: [
        ("Authorization", "Bearer " + issue.text), ("Content-Type", "application/json"),
      ], body: message)
  }
}

extension FCMProvider {
  /// Lets the service check a message for a token that can't exist: it reports that only if everything else is
  /// right.
  package func check() async -> [PushFinding] {
    let push = OutgoingPush(
      id: "", target: .device(handle: "richpush-check", platform: Platform.firebase.name),
      text: payload(of: PushMessage(0, "", richType: nil, form: .alert)).payload())
    guard
      let message = FCMRequest(
        push, to: "richpush-check", isCollapsible: false, at: now(), validateOnly: true)
    else { return [] }
    do throws(FCMAccessToken.Failure) {
      let (isGood, sentence) =
        switch await send(message.json, try await token.issue()) {
        case .deadToken: (true, "Firebase accepts the service account and its project.")
        case .delivered:
          (true, "This endpoint accepts any token, so it is not Firebase; the account is unproven.")
        case let outcome: (false, outcome.reason ?? "")
        }
      return [PushFinding(service: name, isGood: isGood, sentence: sentence)]
    } catch {
      return [PushFinding(service: name, error.outcome, isGood: "")]
    }
  }
}
