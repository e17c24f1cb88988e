import Delivery
import FoundationEssentials
import HTTP
import Media
import Primitives
import RichPushAPI
import Store

/// Receives what is posted to webhooks, and does what their templates say.
struct EventReceiver: Sendable {
  let publishing: CompatiblePublishing

  /// The largest event, in bytes.
  private static let largest = 256 << 10
  private var webhooks: any Webhooks { publishing.store.webhooks }

  var routes: [Route] {
    [
      Route(
        "POST", WebhookRoutes.path + "{}", for: .publisher, by: .webhook,
        body: .memory(limit: Self.largest), deadline: .seconds(120), in: WebhookDialect(), post)
    ]
  }

  /// `POST /api/in/<token>`: an event.
  private func post(_ context: RequestContext) async throws -> Response {
    guard case .accessToken(_, let id, _) = context.caller.proof,
      let webhook = try await webhooks.webhook(id, of: nil)
    else { throw ServiceError.callerChanged }
    if let secret = webhook.secret {
      try WebhookSignature.check(context.request, context.body, secret: secret)
    }
    let template = try Self.template(of: webhook)
    let fields = template.fields.compactMap { name in
      context.request.fields[name].map { (name, $0) }
    }
    let post = WebhookPost(
      fields: Dictionary(uniqueKeysWithValues: fields),
      body: String(validating: context.body, as: UTF8.self))
    let result = try await receive(post, at: webhook, template, context)
    return .json(result.done == .ignored ? 202 : 200, result)
  }

  /// Does again what a failed delivery was for.
  func replay(
    _ delivery: FailedDelivery, at webhook: StoredWebhook, _ context: RequestContext
  ) async throws -> WebhookResult {
    guard delivery.post.body != nil else {
      throw ServiceError(
        .conflict,
        "This delivery was not kept, since it is large or no JSON: it has to be sent again.")
    }
    let owner = try await publishing.store.accessTokens.owner(ofAccessToken: webhook.hash)
    guard let caller = owner.flatMap({ Caller($0, hash: webhook.hash) }) else {
      throw ServiceError(.conflict, "The webhook has ended.")
    }
    let own = RequestContext(
      request: context.request, caller: caller, login: context.login, parameters: [])
    return try await receive(
      delivery.post, at: webhook, Self.template(of: webhook), own)
  }

  /// Does what an event is for; what fails is kept.
  private func receive(
    _ post: WebhookPost, at webhook: StoredWebhook, _ template: WebhookTemplate,
    _ context: RequestContext
  ) async throws -> WebhookResult {
    let id = webhook.token.id
    let digest = Digest(
      of: post.fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
        + (post.body ?? ""))
    do {
      let result = try await act(on: post, at: webhook, template, context)
      // Most have never failed.
      if webhook.failed > 0 { webhooks.removeDelivery(digest, of: id) }
      return result
    } catch {
      let shown = ServiceError(any: error)
      if shown.code != .unauthorized { await keep(post, digest, shown.reason, of: id) }
      throw error
    }
  }

  private func keep(
    _ post: WebhookPost, _ digest: Digest, _ reason: String, of webhook: Int
  ) async {
    let body = post.body.flatMap { body in
      body.utf8.count <= UserQuota.failedDelivery && JSONValue(body.utf8) != nil ? body : nil
    }
    do {
      try await webhooks.keep(
        WebhookPost(fields: post.fields, body: body), digest, reason: reason, of: webhook)
    } catch {
      publishing.log(
        .error, "compat", "a failed delivery to webhook \(webhook) is not kept: \(error)")
    }
  }

  private static func template(
    of webhook: StoredWebhook
  ) throws(ServiceError) -> WebhookTemplate {
    guard let given = JSONValue(webhook.template.utf8) else {
      throw ServiceError(.rejected, "The webhook's template is not JSON: make another webhook.")
    }
    return try WebhookTemplate(given: given)
  }

  private func act(
    on post: WebhookPost, at webhook: StoredWebhook, _ template: WebhookTemplate,
    _ context: RequestContext
  ) async throws -> WebhookResult {
    guard let body = post.body.flatMap({ JSONValue($0.utf8) }) else {
      throw ServiceError(.invalidRequest, "The body is not JSON in UTF-8.")
    }
    let action = try template.action(
      for: WebhookEvent(body: body, fields: post.fields), to: context.caller.scope?.to ?? [],
      linkSchemes: publishing.publisher.linkSchemes)
    switch action.named(at: webhook.token.name) {
    case .ignore: return WebhookResult(.ignored)
    case .withdraw(let subject):
      guard let found = try await publishing.own(about: subject, context),
        try await publishing.store.notifications.withdraw(found.id)
      else { return WebhookResult(.ignored) }
      return WebhookResult(.withdrawn, found.id)
    case .publish(var new):
      var context = context
      new.idempotencyKey = try await key(of: new, context)
      // The key alone tells whether it is the same: what else is in the event may be counted up each time.
      context.body = Array((new.idempotencyKey ?? "").utf8)
      let published = try await publishing.publish(new, from: "webhooks", context)
      return WebhookResult(published.isNew ? .sent : .repeated, published.notification.id)
    }
  }
}

extension EventReceiver {
  /// The idempotency key of a notification that takes another's place.
  ///
  /// The template's key says what is the case. What was the case before can be so again, as an alert that fires again:
  /// then it is no repetition.
  private func key(
    of new: NewNotification, _ context: RequestContext
  ) async throws -> String? {
    guard let key = new.idempotencyKey, let subject = new.message.replaces,
      let latest = try await publishing.store.notifications.latest(
        about: subject, sender: context.caller.id)
    else { return new.idempotencyKey }
    if let known = latest.key, !latest.hasExpired, known.hasPrefix(key) { return known }
    return "\(key) \(latest.id)"
  }
}

/// What is posted to webhooks has the token in its path, and gets problems as answers.
struct WebhookDialect: Dialect {
  func authorization(of request: Request, _ parameters: [String]) -> String? {
    "Bearer " + (parameters.first ?? "")
  }

  func response(to problem: ForeignProblem) -> Response {
    problem.status == 401
      ? .problem(404, "There is no webhook at this address, or it has ended.")
      : .problem(problem.status, problem.detail, code: problem.code)
  }
}
