import HTTP
import Intake
import RichPushAPI

/// The API's routes (`GET /api/openapi.json`).
struct RouteTable: Sendable {
  let health: HealthRoutes
  let app: AppDescriptionRoute
  let registrations: RegistrationRoutes
  let notifications: NotificationRoutes
  let inbox: InboxRoutes
  let sent: SentRoutes
  let media: MediaRoutes
  let signed: SignedMediaRoutes
  let details: NotificationDetails
  let receipts: ReceiptRoutes
  let statistics: StatisticsRoutes
  let interactions: InteractionRoutes
  let assets: AssetRoutes
  let plugins: PluginRoutes
  let types: RichTypeRoutes
  let sessions: SessionRoutes
  let outbox: OutboxRoutes
  let users: UserRoutes
  let audit: AuditRoutes
  let accessTokens: AccessTokenRoutes
  let webhooks: WebhookRoutes
  let drafts: DraftRoutes
  let segments: SegmentRoutes
  let imports: ImportRoutes
  let approvals: ApprovalRoutes
  let pairings: PairingRoutes
  let signUps: SignUpRoutes
  /// Pushes, for devices.
  let pushes: EventStreams
  /// Receipts and asset events, for publishers.
  let events: EventStreams
  /// The routes of pages, which are no part of the API.
  var pages: [Route] = []
  /// The routes that speak APIs of other programs, of which this description says nothing.
  var compatible: [Route] = []
  /// How long a rendition may take, with its wait in the queue.
  static let renderTime = Duration.seconds(60)

  var routes: [Route] {
    [
      Route("GET", "/healthz", for: .anybody, immediate: health.alive),
      Route("GET", "/readyz", for: .anybody, deadline: .seconds(5), health.ready),
      Route("GET", "/metrics", for: .anybody, health.metrics),
      Route(
        "GET", "/api/openapi.json", for: .user, by: [.all, .accessToken],
        immediate: OpenAPIDocument.get),
      Route(
        "GET", "/api/notifications/{}", for: .user, by: .token,
        deadline: Self.renderTime, fetching: media.fetch, media.get),
      Route("GET", "/media/{}/{}", for: .anybody, deadline: Self.renderTime, signed.get),
      Route(
        "GET", "/api/notifications", for: .user, by: [.all, .accessToken], notifications.inbox),
      Route(
        "POST", "/api/notifications", for: .user, by: [.all, .accessToken],
        body: .memory(limit: 256 << 10, largest: 4 << 20, form: MultipartForm.largest),
        deadline: .seconds(120), ready: notifications.mayPost, notifications.post),
      Route(
        "PATCH", "/api/notifications/{}", for: .user, by: [.all, .accessToken],
        body: .memory(limit: 256 << 10, largest: 4 << 20),
        deadline: .seconds(120), notifications.patch),
      Route(
        "DELETE", "/api/notifications/{}", for: .user, by: [.all, .accessToken],
        notifications.delete),
      Route(
        "GET", "/api/notifications/{}/details", for: .user, by: [.all, .receiptsToken], details.get),
      Route(
        "GET", "/api/notifications/{}/media", for: .user, deadline: Self.renderTime, media.getSent),
      Route(
        "GET", "/api/notifications/{}/receipts", for: .user, by: [.all, .receiptsToken],
        receipts.receipts),
      Route(
        "GET", "/api/notifications/{}/deliveries", for: .user, by: [.all, .receiptsToken],
        receipts.deliveries),
      Route(
        "GET", "/api/notifications/{}/statistics", for: .user, by: [.all, .receiptsToken],
        deadline: .seconds(120), statistics.get),
      Route("GET", "/api/statistics", for: .publisher, statistics.weeks),
      Route(
        "GET", "/api/notifications/{}/interactions", for: .user, by: [.all, .receiptsToken],
        receipts.interactions),
      Route(
        "GET", "/api/notifications/{}/amendments", for: .user, by: [.all, .receiptsToken],
        receipts.amendments),
      Route(
        "POST", "/api/notifications/{}/interactions", for: .user, by: [.session, .token, .push],
        body: .memory(limit: 8192), interactions.post),
      Route(
        "GET", "/api/audience", for: .publisher, by: [.all, .accessToken], sent.audience),
      Route("GET", "/api/audience/names", for: .publisher, sent.names),
      Route(
        "PUT", "/api/notifications/{}/read", for: .user, body: .memory(limit: 1024),
        inbox.markRead),
      Route(
        "POST", "/api/notifications/read", for: .user, body: .memory(limit: 1024),
        inbox.markAllRead),
      Route(
        "PUT", "/api/notifications/{}/hidden", for: .user, body: .memory(limit: 1024), inbox.hide),
      Route("DELETE", "/api/notifications/{}/hidden", for: .user, inbox.bringBack),
      Route("GET", "/api/push/stream", for: .user, pushes.get),
      Route("GET", "/api/app", for: .anybody, immediate: app.get),
      Route("GET", "/api/push/vapid", for: .user, registrations.vapid),
      Route("GET", "/api/events/stream", for: .publisher, events.get),
      Route(
        "POST", "/api/register", for: .user, by: .token, body: .memory(limit: 1024),
        registrations.register),
      Route(
        "PUT", "/api/register/{}", for: .user, by: .ownToken, body: .memory(limit: 64 << 10),
        registrations.put),
      Route(
        "PATCH", "/api/register/{}", for: .user, by: [.session, .ownToken],
        body: .memory(limit: 64 << 10), registrations.patch),
      Route(
        "DELETE", "/api/register/{}", for: .user, by: [.session, .ownToken], registrations.delete),
      Route(
        "POST", "/api/register/{}/token", for: .user, by: .password, registrations.addToken),
      Route(
        "DELETE", "/api/register/{}/token", for: .user, by: [.session, .ownToken],
        registrations.removeTokens),
      Route("GET", "/api/registrations", for: .user, registrations.list),
      Route(
        "POST", "/api/tokens", for: .publisher, by: .session, body: .memory(limit: 16 << 10),
        accessTokens.post),
      Route("GET", "/api/tokens", for: .publisher, by: .session, accessTokens.list),
      Route("DELETE", "/api/tokens/{}", for: .publisher, by: .session, accessTokens.delete),
      Route("GET", "/api/approvals", for: .publisher, by: .session, approvals.list),
      Route(
        "POST", "/api/notifications/{}/approval", for: .publisher, by: .session,
        body: .memory(limit: 8192), approvals.decide),
      Route("GET", "/api/drafts", for: .publisher, by: .session, drafts.list),
      Route(
        "POST", "/api/drafts", for: .publisher, by: .session, body: .memory(limit: 256 << 10),
        drafts.post),
      Route("GET", "/api/drafts/{}", for: .publisher, by: .session, drafts.get),
      Route(
        "PUT", "/api/drafts/{}", for: .publisher, by: .session, body: .memory(limit: 256 << 10),
        drafts.put),
      Route("DELETE", "/api/drafts/{}", for: .publisher, by: .session, drafts.delete),
      Route("GET", "/api/segments", for: .publisher, by: .session, segments.list),
      Route("GET", "/api/segments/{}", for: .publisher, by: .session, segments.get),
      Route(
        "PUT", "/api/segments/{}", for: .publisher, by: .session, body: .memory(limit: 64 << 10),
        segments.put),
      Route("DELETE", "/api/segments/{}", for: .publisher, by: .session, segments.delete),
      Route(
        "POST", "/api/webhooks", for: .publisher, by: .session, body: .memory(limit: 64 << 10),
        webhooks.post),
      Route("GET", "/api/webhooks", for: .publisher, by: .session, webhooks.list),
      Route("DELETE", "/api/webhooks/{}", for: .publisher, by: .session, webhooks.delete),
      Route(
        "GET", "/api/webhooks/{}/deliveries", for: .publisher, by: .session, webhooks.deliveries),
      Route(
        "POST", "/api/webhooks/{}/deliveries/{}/replay", for: .publisher, by: .session,
        deadline: .seconds(120), webhooks.replay),
      Route(
        "POST", "/api/pairings", for: .user, by: .session, body: .memory(limit: 1024),
        pairings.post),
      Route("GET", "/api/pairings", for: .user, by: .session, pairings.list),
      Route("DELETE", "/api/pairings/{}", for: .user, by: .session, pairings.delete),
      Route("POST", "/api/pair", for: .anybody, body: .memory(limit: 4096), pairings.pair),
      Route(
        "POST", "/api/pair/forward", for: .anybody, body: .memory(limit: 1024), pairings.forward),
      Route(
        "POST", "/api/sign-up", for: .anybody, body: .memory(limit: 16 << 10),
        ready: signUps.mayPost, signUps.post),
      Route("GET", "/api/sign-ups", for: .admin, signUps.list),
      Route("POST", "/api/sign-ups/{}", for: .admin, signUps.approve),
      Route("DELETE", "/api/sign-ups/{}", for: .admin, signUps.refuse),
      Route(
        "POST", "/api/session", for: .anybody, body: .memory(limit: 4096), ready: sessions.mayPost,
        sessions.post),
      Route("GET", "/api/sign-in", for: .anybody, sessions.state),
      Route("GET", "/api/session", for: .user, by: .session, sessions.get),
      Route("DELETE", "/api/session", for: .user, by: .session, sessions.delete),
      Route("DELETE", "/api/session/{}", for: .user, by: .session, sessions.deleteOne),
      Route(
        "PUT", "/api/password", for: .user, by: .session, body: .memory(limit: 4096),
        sessions.changePassword),
      Route("GET", "/api/outbox", for: .admin, outbox.list),
      Route("POST", "/api/outbox/{}/replay", for: .admin, outbox.replay),
      Route("POST", "/api/outbox/replay", for: .admin, outbox.replayAll),
      Route("POST", "/api/lanes/resume", for: .admin, outbox.resume),
      Route("POST", "/api/lanes/restore", for: .admin, outbox.restore),
      Route("DELETE", "/api/outbox/{}", for: .admin, outbox.cancel),
      Route("GET", "/api/lanes", for: .admin, outbox.lanes),
      Route("GET", "/api/users", for: .admin, users.list),
      Route("PUT", "/api/users/{}", for: .admin, body: .memory(limit: 4096), users.put),
      Route("DELETE", "/api/users/{}", for: .admin, users.delete),
      Route("DELETE", "/api/users/{}/tokens", for: .admin, users.endCredentials),
      Route("GET", "/api/users/{}/devices", for: .admin, users.devices),
      Route("GET", "/api/users/{}/attributes", for: .publisher, users.attributes),
      Route(
        "PUT", "/api/users/{}/attributes", for: .publisher, body: .memory(limit: 64 << 10),
        users.putAttributes),
      Route(
        "POST", "/api/attributes", for: .publisher,
        body: .memory(limit: 256 << 10, largest: 4 << 20),
        users.importAttributes),
      Route(
        "POST", "/api/attributes/import", for: .publisher,
        body: .file(limit: ImportReport.largestFile), deadline: ImportRoutes.time, imports.post),
      Route("GET", "/api/failed-logins", for: .admin, users.refusals),
      Route("GET", "/api/status", for: .admin, by: [.all, .statusToken], health.status),
      Route("GET", "/api/audit", for: .admin, by: [.all, .auditToken], audit.list),
      Route("GET", "/api/storage", for: .admin, health.storage),
      Route("GET", "/api/plugins", for: .admin, plugins.list),
      Route("GET", "/api/types", for: .publisher, by: [.all, .accessToken], types.list),
      Route("GET", "/api/assets", for: .publisher, by: [.all, .assetsToken], assets.list),
      Route(
        "POST", "/api/assets", for: .publisher, by: [.all, .assetsToken],
        body: .file(limit: AssetIntake.largestFile),
        deadline: .seconds(120), ready: assets.mayPost, assets.post),
      Route("GET", "/api/assets/{}", for: .publisher, by: [.all, .assetsToken], assets.list),
      Route("GET", "/api/assets/{}/{}", for: .publisher, by: [.all, .assetsToken], assets.one),
      Route(
        "GET", "/api/assets/{}/{}/media", for: .publisher, by: [.all, .assetsToken],
        deadline: Self.renderTime, assets.media),
      Route(
        "GET", "/api/assets/{}/{}/versions", for: .publisher, by: [.all, .assetsToken],
        assets.versions),
      Route(
        "GET", "/api/assets/{}/{}/versions/{}/media", for: .publisher, by: [.all, .assetsToken],
        deadline: Self.renderTime, assets.versionMedia),
      Route("GET", "/api/assets/{}/{}/uses", for: .publisher, by: .session, assets.uses),
      Route(
        "POST", "/api/assets/{}/{}/rename", for: .publisher, by: [.all, .assetsToken],
        body: .memory(limit: 4 << 10), deadline: .seconds(120), assets.rename),
      Route(
        "POST", "/api/assets/{}/{}/restore", for: .publisher, by: [.all, .assetsToken],
        body: .memory(limit: 1 << 10), deadline: .seconds(120), assets.restore),
      Route(
        "GET", "/api/asset-labels", for: .publisher, by: [.all, .assetsToken], assets.labels),
      Route(
        "GET", "/api/removed-assets", for: .publisher, by: [.all, .assetsToken], assets.removed),
      Route(
        "PUT", "/api/assets/{}/{}", for: .publisher, by: [.all, .assetsToken],
        body: .file(limit: AssetIntake.largestFile),
        deadline: .seconds(120), ready: assets.mayPut, assets.put),
      Route(
        "PATCH", "/api/assets/{}/{}", for: .publisher, by: [.all, .assetsToken],
        body: .memory(limit: 16 << 10), assets.patch),
      Route(
        "DELETE", "/api/assets/{}/{}", for: .publisher, by: [.all, .assetsToken], assets.delete),
    ] + pages + compatible
  }
}

/// A method, a path pattern, who may use them, and what handles them.
final class Route: Sendable {
  /// How a request's body is read, after its caller was authorized.
  enum Body: Sendable {
    case none
    /// Into memory, at most `limit` bytes; a publisher may send up to `largest`, whose number is known before, as one
    /// of its uploads. A form with a file goes into a temporary file, at most `form` bytes, if it is not 0.
    case memory(limit: Int, largest: Int = 0, form: Int = 0)
    /// Into a temporary file, at most `limit` bytes.
    case file(limit: Int)
    /// Into memory if it has at most `text` bytes, or else into a temporary file, at most `limit` bytes.
    case textOrFile(text: Int, limit: Int)
  }

  let method: String
  /// See ``Router``.
  let pattern: String
  /// Who may use the route; checked before a byte of the body is read.
  let access: Access
  /// Which credentials count here; checked together with `access`.
  let admission: Admission
  let body: Body
  /// How long the handler may take, from the end of the body.
  let deadline: Duration
  /// Responds from the head alone, or returns nil; only then `handler` is called.
  ///
  /// Usually called on an event loop's thread, so it must not block.
  let ready: (@Sendable (RequestContext) throws -> Response?)?
  /// What a request with these path parameters fetches.
  let fetch: (@Sendable ([String]) -> Fetch?)?
  let handler: @Sendable (RequestContext) async throws -> Response
  /// The API of another program that it speaks; nil for this one.
  let dialect: (any Dialect)?
  /// Whether it changes nothing, so that nobody need be named in the audit log.
  let isSafe: Bool

  /// A route; `access` has no default, so that no new route is public by oversight.
  ///
  /// Unless `isSafe` says otherwise, a GET changes nothing, except in other programs' APIs.
  init(
    _ method: String, _ pattern: String, for access: Access, by admission: Admission = .all,
    body: Body = .none, deadline: Duration = .seconds(30),
    ready: (@Sendable (RequestContext) throws -> Response?)? = nil,
    fetching fetch: (@Sendable ([String]) -> Fetch?)? = nil, in dialect: (any Dialect)? = nil,
    isSafe: Bool? = nil,
    _ handler: @escaping @Sendable (RequestContext) async throws -> Response
  ) {
    (self.method, self.pattern, self.access) = (method, pattern, access)
    (self.admission, self.fetch, self.dialect) = (admission, fetch, dialect)
    (self.body, self.deadline, self.ready, self.handler) = (body, deadline, ready, handler)
    self.isSafe = isSafe ?? (method == "GET" && dialect == nil)
  }

  /// A route that always responds from the head alone, on an event loop's thread.
  convenience init(
    _ method: String, _ pattern: String, for access: Access,
    by admission: Admission = .all, in dialect: (any Dialect)? = nil,
    immediate: @escaping @Sendable (RequestContext) throws -> Response
  ) {
    self.init(method, pattern, for: access, by: admission, ready: immediate, in: dialect) {
      try immediate($0)
    }
  }
}

/// `GET /api/openapi.json`: the description of this API in OpenAPI 3.1.
enum OpenAPIDocument {
  /// The file openapi.json of this module, which the build embeds in the program.
  static func get(_ context: RequestContext) -> Response { document }

  private static let document = Response.bytes(
    200, PackageResources.openapi_json, type: "application/json",
    fields: ["Cache-Control": "private, max-age=3600"])
}
