import FoundationEssentials
import HTTP
import RichPushAPI
import Store

/// `/api/webhooks`: addresses to which programs post events, which become notifications of a publisher.
struct WebhookRoutes: Sendable {
  let store: Store
  let authenticator: Authenticator
  /// Whether this server receives what is posted to them.
  let isServed: Bool
  /// Throws what is wrong with a template.
  let check: @Sendable (JSONValue) throws(ServiceError) -> Void
  /// Does again what a failed delivery was for.
  let deliver:
    @Sendable (StoredWebhook, FailedDelivery, RequestContext) async throws -> WebhookResult

  /// What the path of every webhook begins with.
  static let path = "/api/in/"
  /// The longest secret with which senders sign, in bytes.
  private static let longestSecret = 256

  /// `POST /api/webhooks`: a webhook of the caller's or, for admins, of any publisher's.
  func post(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let new = try JSONCoding.request(NewWebhook.self, from: context.body)
    guard isServed else {
      throw ServiceError(
        .conflict, "This server receives nothing by webhooks; it does with --compat webhooks.")
    }
    let user = try await context.publisher(new.user, in: store, isDemo: authenticator.isDemo)
    let scope = try self.scope(of: new)
    let token = AccessToken()
    let added = try await store.webhooks.addWebhook(
      token.hash, new.name, scope, template: JSONCoding.text(new.template),
      secret: new.signingSecret, of: user)
    guard let added else { throw ServiceError.noSuchUser }
    // The password may have been changed meanwhile.
    guard try await store.isCurrent(context.caller) else {
      _ = try await store.accessTokens.removeAccessToken(added.token.id, of: user, isWebhook: true)
      throw ServiceError.callerChanged
    }
    return .json(
      201, IssuedWebhook(Self.path + token.text, WebhookList.Webhook(added)),
      fields: ["Cache-Control": "no-store"])
  }

  /// What a new webhook allows.
  ///
  /// - Throws: everything that is wrong with the webhook.
  private func scope(of new: NewWebhook) throws(ServiceError) -> AccessTokenScope {
    var faults: [ServiceError.Fault] = []
    if let secret = new.signingSecret,
      !(1...Self.longestSecret).contains(secret.utf8.count) || secret.utf8.contains(0)
    {
      let reason =
        "signingSecret must have from 1 to \(Self.longestSecret) bytes, and no NUL character."
      faults.append(.init("signingSecret", .rejected, reason))
    }
    var scope = AccessTokenScope()
    do throws(ServiceError) { try check(new.template) } catch { faults += error.faults }
    do throws(ServiceError) { scope = try AccessTokenScope(new.token, at: store.now()) } catch {
      faults += error.faults
    }
    if let error = ServiceError(faults) { throw error }
    return scope
  }

  /// `GET /api/webhooks`: the webhooks of the caller or, for admins, of any user.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("user")
    let owner = try await context.publisher(
      query["user"], in: store, isDemo: authenticator.isDemo)
    let webhooks = try await store.webhooks.webhooks(of: owner)
    return .json(
      200,
      WebhookList(isServed: isServed, webhooks: webhooks.map(WebhookList.Webhook.init)))
  }

  /// `DELETE /api/webhooks/<id>`: removes a webhook.
  func delete(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let removed = try await store.accessTokens.removeAccessToken(
      webhook(context).token.id, of: nil, isWebhook: true)
    guard removed else { throw Self.noSuchWebhook }
    return .empty(204)
  }

  /// `GET /api/webhooks/<id>/deliveries`: the deliveries that have failed and are kept.
  func deliveries(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let failed = try await store.webhooks.failedDeliveries(of: webhook(context).token.id)
    return .json(
      200,
      FailedDeliveryList(
        deliveries: failed.map { .init(id: $0.id, failed: $0.failed, reason: $0.reason) }))
  }

  /// `POST /api/webhooks/<id>/deliveries/<delivery>/replay`: does again what a failed delivery was for.
  func replay(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let webhook = try await webhook(context)
    guard context.parameters.count == 2, let id = Int(context.parameters[1]),
      let delivery = try await store.webhooks.failedDelivery(id, of: webhook.token.id)
    else { throw ServiceError(.notFound, "There is no such failed delivery of this webhook.") }
    return .json(200, try await deliver(webhook, delivery, context))
  }

  /// The webhook in the path, if the caller may manage it.
  private func webhook(_ context: RequestContext) async throws -> StoredWebhook {
    let owner = context.caller.role == .admin ? nil : context.caller.id
    guard let id = context.parameters.first.flatMap({ Int($0) }),
      let found = try await store.webhooks.webhook(id, of: owner)
    else { throw Self.noSuchWebhook }
    return found
  }

  private static let noSuchWebhook = ServiceError(.notFound, "There is no such webhook.")
}

extension WebhookList.Webhook {
  /// A webhook of the store.
  fileprivate init(_ stored: StoredWebhook) {
    let token = stored.token
    self.init(id: token.id, name: token.name, user: token.user, created: token.created)
    template = JSONValue(stored.template.utf8) ?? .null
    (to, rate, expires) = (token.scope.to ?? [], token.scope.rate, token.scope.expires)
    (used, address) = (token.used, token.address)
    (isSigned, failed) = (stored.secret != nil, stored.failed)
  }
}
