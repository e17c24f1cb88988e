import Delivery
import FoundationEssentials
import HTTP
import Intake
import Primitives
import RichPushAPI
import Store

/// Publishes what the APIs of other programs are sent: all of them have this in common.
struct CompatiblePublishing: Sendable {
  let store: Store
  let authenticator: Authenticator
  let publisher: Publisher
  let assets: AssetIntake
  let log: Log

  /// Publishes a notification as the caller, with the caller's quotas and within the scope of its access token.
  ///
  /// - Throws: `noRecipients` if its audience is nobody; the log says so, too.
  func publish(
    _ new: NewNotification, with file: AttachedFile? = nil, from api: String,
    _ context: RequestContext
  ) async throws -> Publisher.Published {
    let caller = context.caller
    let addressed = try Draft(new)
    try caller.requireAddressable(addressed.to)
    try await store.requireFollowable(addressed.namedAudience?.notification, by: caller, "to")
    try authenticator.countNotification(by: caller)
    var new = new
    var attachment: AssetRecord?
    if let file {
      let attached = try await file.attached(by: assets, in: store)
      (new.richType, new.payload) = (attached.richType, attached.name)
      attachment = attached
    }
    let draft = try Draft(new, allowing: publisher.linkSchemes, now: Date())
    try draft.requireAllowed(for: caller.role)
    do {
      return try await publisher.publish(
        draft, sender: caller.id, request: context.body, using: .all, asset: attachment,
        confirm: { [store] in try await store.requireCurrent(caller, context.login) })
    } catch let error as ServiceError where error.code == .noRecipients {
      log(
        .notice, "compat",
        "\(api): a message of user \(caller.id.rawValue) reaches nobody: \(error.reason)",
        request: context.request.id)
      throw error
    }
  }

  /// The recipients of the caller's access token, for APIs whose messages name none.
  ///
  /// - Throws: `rejected` for other credentials, and for a token without recipients.
  func ownAudience(_ context: RequestContext) throws(ServiceError) -> NewNotification.Audience {
    if let to = context.caller.scope?.to { return .anyTag(to) }
    throw ServiceError(
      .rejected,
      "This needs an access token with recipients: richpush token add NAME --user USER --to TAG.")
  }

  /// The caller's notification with an ID, as long as it has not expired.
  func own(_ id: Int, _ context: RequestContext) async throws -> StoredNotification? {
    guard let found = try await store.notifications.notification(id),
      found.sender == context.caller.id, context.caller.mayAddress(found.to)
    else { return nil }
    return found
  }

  /// The caller's latest notification about a subject, as long as it has not expired.
  func own(about subject: String, _ context: RequestContext) async throws -> StoredNotification? {
    let caller = context.caller
    let found = try await store.notifications.notification(about: subject, sender: caller.id)
    return found.flatMap { caller.mayAddress($0.to) ? $0 : nil }
  }
}
