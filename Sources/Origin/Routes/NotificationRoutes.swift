import FoundationEssentials
import HTTP
import Delivery
import Intake
import Primitives
import Push
import RichPushAPI
import Store

/// `/api/notifications`: the tutorial's two forms, the JSON form, and what a sender changes.
struct NotificationRoutes: Sendable {
  let store: Store
  let authenticator: Authenticator
  let publisher: Publisher
  let assets: AssetIntake
  let sentRoutes: SentRoutes
  let inboxRoutes: InboxRoutes
  let standard: OriginConfiguration.Standard

  /// Checks the query before the body is read: a device may notify only itself.
  func mayPost(_ context: RequestContext) throws -> Response? {
    guard context.caller.mayPublish || !MultipartForm.isForm(context.request) else {
      throw ServiceError(
        .forbidden, "This account has the role “device” and can send no files. Use a publisher.")
    }
    if let user = context.request.query["to_tag"] {
      try Self.check(context.caller, notifiesItself: user == context.caller.name)
      try context.caller.requireAddressable(["username:" + user])
    }
    return nil
  }

  private static func check(_ caller: Caller, notifiesItself isItself: Bool) throws(ServiceError) {
    guard caller.mayPublish || isItself else {
      throw ServiceError(
        .forbidden,
        "This account has the role “device” and can only notify itself. Use a publisher.")
    }
  }

  /// How many seconds later it may be sent than it is posted.
  private let delays = 1...3600

  /// `POST /api/notifications`: one of three forms, depending on the query and the body.
  func post(_ context: RequestContext) async throws -> Response {
    let query = try context.query("pns", "to_tag", "dry-run", "delay")
    if MultipartForm.isForm(context.request) {
      guard query.isEmpty else {
        throw ServiceError(.invalidRequest, "A form with a file has no query.")
      }
      return try await postForm(context)
    }
    if query["dry-run"] != nil { return try await dryRun(context, query) }
    if let user = query["to_tag"] {
      guard query["delay"] == nil else {
        throw ServiceError(.invalidRequest, "delay is only for the JSON form.")
      }
      return try await alert(context, pns: query["pns"], user: user)
    }
    guard query["pns"] == nil else { throw ServiceError(.rejected, "pns requires to_tag.") }
    if context.body.isEmpty, query.isEmpty { return try await postStandard(context) }
    return try await postJSON(context, delay: query.number("delay", delays))
  }

  /// What Azure's back ends call the services of a hub; the alert goes to all devices, whichever is named.
  private static let services = ["apns", "fcm", "fcmv1", "gcm", "wns", "browser"]

  /// The tutorial's "Notify Users": a plain alert from the caller to a user.
  private func alert(_ context: RequestContext, pns: String?, user: String) async throws -> Response
  {
    guard let pns, Self.services.contains(pns.lowercased()) else {
      throw ServiceError(
        pns == nil ? .rejected : .invalidRequest,
        "With to_tag, pns must be \(Self.services.dropLast().joined(separator: ", ")) or browser.")
    }
    guard UserName.isValid(user) else {
      throw ServiceError(.invalidRequest, "to_tag is not a user's name.")
    }
    let body = JSONValue(context.body)
    guard let text = body?.text else {
      throw ServiceError(
        body == nil ? .invalidRequest : .rejected,
        "The body is not a JSON string, such as \"Hello\".")
    }
    let caller = context.caller
    try authenticator.countNotification(by: caller)
    try await publisher.announcement.announce(
      "From \(caller.name): \(text)", to: user, fromDeviceOf: caller.mayPublish ? nil : caller.id)
    return .empty(200)
  }

  /// The tutorial's "Rich Push": the configured notification, for the caller.
  private func postStandard(_ context: RequestContext) async throws -> Response {
    let caller = context.caller
    try caller.requireAddressable([caller.ownTag])
    try authenticator.countNotification(by: caller)
    let draft = try Draft(
      message: standard.message, richType: standard.richType, payload: standard.payload,
      user: caller.name)
    do {
      _ = try await publisher.publish(
        draft, sender: caller.id, isFromDevice: !caller.mayPublish, request: [], using: .all,
        confirm: confirm(context))
    } catch {
      // The reason names assets.
      guard let error = error as? ServiceError, error.code.isPermanent,
        error.code != .unauthorized, !caller.mayPublish
      else { throw error }
      throw ServiceError(.assetNotReady, "The server's default notification cannot be sent now.")
    }
    return .empty(200)
  }

  /// `POST /api/notifications?dry-run`: what the JSON form would do.
  private func dryRun(_ context: RequestContext, _ query: [String: String]) async throws -> Response
  {
    guard query["pns"] == nil, query["to_tag"] == nil else {
      throw ServiceError(.invalidRequest, "dry-run is only for the JSON form.")
    }
    let draft = try await draft(
      context, context.caller.addressed(context.body), delay: query.number("delay", delays))
    return .json(
      200,
      try await publisher.dryRun(
        draft, sender: context.caller.id, using: context.caller.usableAssets))
  }

  private func postJSON(_ context: RequestContext, delay: Int?) async throws -> Response {
    if context.body.first(where: { $0 > 0x20 }) == UInt8(ascii: "\""),
      JSONValue(context.body) != nil
    {
      throw ServiceError(
        .rejected, "The body is a string, which requires to_tag; without it, send an object.")
    }
    return try await publish(context.caller.addressed(context.body), delay: delay, context)
  }

  /// `POST /api/notifications` as a form: the JSON form in the part `notification`, and a file.
  private func postForm(_ context: RequestContext) async throws -> Response {
    let caller = context.caller
    let form = try context.form()
    guard form.parts.count == 2, let file = try form.file(),
      let notification = form.parts.first(where: { $0.fileName == nil && $0.name == "notification" }
      )
    else {
      throw ServiceError(
        .invalidRequest, "The form must have two parts: notification, which is JSON, and a file.")
    }
    let body = caller.addressed(Array(notification.content))
    let members = JSONValue(body)?.members ?? [:]
    guard members["richType"] == nil, members["payload"] == nil else {
      throw ServiceError(
        .init("richType", .rejected, "The file is the content: leave richType and payload out."))
    }
    try authenticator.countNotification(by: caller)
    let attached = try await AttachedFile(
      content: .bytes(Array(file.content)), name: file.fileName
    ).attached(by: assets, in: store)
    let media = JSONText.inserting(
      ["richType": JSONText.quoted(attached.richType), "payload": JSONText.quoted(attached.name)],
      into: body)
    return try await publish(media, with: attached, context)
  }

  /// Publishes the JSON form, perhaps after so many seconds; `attached` is the file that came with it, and was counted.
  private func publish(
    _ body: [UInt8], with attached: AssetRecord? = nil, delay: Int? = nil, _ context: RequestContext
  ) async throws -> Response {
    let caller = context.caller
    let draft = try await draft(context, body, delay: delay)
    if attached == nil { try authenticator.countNotification(by: caller) }
    let published = try await publisher.publish(
      draft, sender: caller.id, isFromDevice: !caller.mayPublish,
      request: body + Array((attached?.blob?.hex ?? "").utf8),
      using: caller.usableAssets, asset: attached, confirm: confirm(context))
    var notification = RichNotification(published.notification, isRead: false)
    notification.reach = published.reach
    return .json(
      published.isNew ? 201 : 200, notification,
      fields: ["Location": "/api/notifications/\(notification.id)"])
  }

  /// The JSON form, which the caller may send.
  private func draft(
    _ context: RequestContext, _ body: [UInt8], delay: Int? = nil
  ) async throws -> Draft {
    let caller = context.caller
    var draft = try Draft(body, delay: delay, allowing: publisher.linkSchemes, now: Date())
    try draft.setIdempotencyKey(context.request.fields["Idempotency-Key"])
    try caller.requireAddressable(draft.to)
    try Self.check(caller, notifiesItself: draft.to == [caller.ownTag])
    try draft.requireAllowed(for: caller.role)
    try await store.requireFollowable(draft.namedAudience?.notification, by: caller, "to")
    return draft
  }

  /// `PATCH /api/notifications/<id>`: the sender changes a notification that no device has fetched.
  func patch(_ context: RequestContext) async throws -> Response {
    let old = try await sent(context)
    let draft = try Draft(
      old, changedBy: context.body, allowing: publisher.linkSchemes, now: Date())
    try draft.requireAllowed(for: context.caller.role)
    try authenticator.countNotification(by: context.caller)
    let amended = try await publisher.amend(
      old, as: draft, by: context.caller.id, isFromDevice: !context.caller.mayPublish,
      using: context.caller.usableAssets, confirm: confirm(context))
    return .json(200, RichNotification(amended, isRead: false))
  }

  /// `DELETE /api/notifications/<id>`: the sender withdraws it; pushes not sent yet are cancelled.
  func delete(_ context: RequestContext) async throws -> Response {
    guard try await store.notifications.withdraw(sent(context).id) else {
      throw ServiceError.noSuchNotification
    }
    return .empty(204)
  }

  /// Throws unless the caller is still who it was when the request began.
  private func confirm(_ context: RequestContext) -> @Sendable () async throws -> Void {
    { [store] in try await store.requireCurrent(context.caller, context.login) }
  }

  /// The notification in the path, if the caller may change it.
  private func sent(_ context: RequestContext) async throws -> StoredNotification {
    guard let notification = try await store.notifications.notification(context.notificationID()),
      context.caller.controls(notification)
    else { throw ServiceError.noSuchNotification }
    return notification
  }

  /// `GET /api/notifications`: the caller's inbox, newest first, or with `sent` what the caller has sent.
  func inbox(_ context: RequestContext) async throws -> Response {
    if context.request.query["sent"] != nil { return try await sentRoutes.list(context) }
    guard context.caller.scope == nil else {
      throw ServiceError(
        .forbidden, "An access token reads what its user has sent (?sent), not the inbox.")
    }
    return try await inboxRoutes.list(context)
  }
}

extension Caller {
  /// The assets that the caller may send: a device may use only the content that it was sent.
  fileprivate var usableAssets: UsableAssets { mayPublish ? .all : .sent(to: id) }
}
