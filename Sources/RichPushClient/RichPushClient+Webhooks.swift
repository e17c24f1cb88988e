public import RichPushAPI

/// Webhooks: addresses to which programs post events, which become notifications of a publisher.
extension RichPushClient {
  /// Makes a webhook, whose address is not shown again: the caller's or, for admins, of the user that it names.
  ///
  /// ```swift
  /// let new = NewWebhook("alerts", template: .string("alertmanager"), to: .anyTag(["operators"]))
  /// print(server.absoluteString + (try await client.addWebhook(new).path))
  /// ```
  public func addWebhook(_ new: NewWebhook) async throws -> IssuedWebhook {
    try await value(request("POST", ["api", "webhooks"], json: new))
  }

  /// The webhooks of the caller or, for admins, of another user.
  ///
  /// ```swift
  /// for webhook in try await client.webhooks().webhooks where webhook.failed > 0 { print(webhook.name) }
  /// ```
  public func webhooks(of user: String? = nil) async throws -> WebhookList {
    try await value(request("GET", ["api", "webhooks"], query: Self.query([("user", user)])))
  }

  /// Removes a webhook, whose address does not count from then on.
  ///
  /// ```swift
  /// for webhook in try await client.webhooks().webhooks { try await client.removeWebhook(webhook.id) }
  /// ```
  public func removeWebhook(_ id: Int) async throws {
    try await send(request("DELETE", ["api", "webhooks", String(id)]))
  }

  /// What was posted to a webhook and failed.
  ///
  /// ```swift
  /// for webhook in try await client.webhooks().webhooks {
  ///   for one in try await client.failedDeliveries(of: webhook.id).deliveries { print(one.reason) }
  /// }
  /// ```
  public func failedDeliveries(of webhook: Int) async throws -> FailedDeliveryList {
    try await value(request("GET", ["api", "webhooks", String(webhook), "deliveries"]))
  }

  /// Does again what a failed delivery to a webhook was for.
  ///
  /// ```swift
  /// for webhook in try await client.webhooks().webhooks {
  ///   for one in try await client.failedDeliveries(of: webhook.id).deliveries {
  ///     print(try await client.replay(one.id, of: webhook.id).done)
  ///   }
  /// }
  /// ```
  @discardableResult
  public func replay(_ delivery: Int, of webhook: Int) async throws -> WebhookResult {
    try await value(
      request(
        "POST", ["api", "webhooks", String(webhook), "deliveries", String(delivery), "replay"]))
  }
}
