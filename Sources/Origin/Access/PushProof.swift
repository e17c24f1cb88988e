import HTTP
import Media
import Push
import RichPushAPI
import Store

/// That somebody has what a push carries: the end of its link, or its secret.
struct PushProof: Sendable, Hashable {
  /// The number of the push's job.
  let job: Int
  /// The notification that it announces.
  let notification: Int
  /// The registration of the device that it was sent to; nil for an audience.
  let device: String?
  /// Whether it is the secret, which stands in no link.
  let isSecret: Bool
}

/// What a request shows of a push.
enum ShownPush: Sendable {
  /// `?to=<job>.<token>`, the end of a link, which others may have seen.
  case link(JobSuffix)
  /// `Authorization: Bearer <secret>`.
  case secret(PushSecret)

  /// Nil if the request has neither.
  init?(_ request: Request) {
    if let authorization = request.fields["Authorization"] {
      guard let secret = authorization.bearerToken.flatMap({ PushSecret($0) }) else { return nil }
      self = .secret(secret)
    } else {
      guard let to = request.query["to"], let suffix = JobSuffix.splitting("&to=\(to)")?.suffix
      else { return nil }
      self = .link(suffix)
    }
  }
}

/// Verifies what requests show of pushes.
struct PushAuthenticator: Sendable {
  let store: Store
  let links: MediaLinks

  /// The user of the push, with the rights of a device.
  func verify(_ shown: ShownPush) async -> Authenticator.Verification {
    do {
      let (job, isSecret) =
        switch shown {
        case .link(let suffix): (suffix.job, false)
        case .secret(let secret): (secret.job, true)
        }
      guard let found = try await store.outbox.addressee(of: job) else { return .wrong }
      let isRight =
        switch shown {
        case .link(let suffix): suffix.token == found.token
        case .secret(let secret):
          found.isRegistered && links.verify(secret, token: found.token)
        }
      guard isRight else { return .wrong }
      let proof = PushProof(
        job: job, notification: found.notification, device: found.registration, isSecret: isSecret)
      return .caller(
        Caller(id: found.user, name: found.name, role: .device, proof: .push(proof)))
    } catch { return .failed(ServiceError(any: error)) }
  }
}
