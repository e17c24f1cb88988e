public import RichPushAPI

/// Notifications for so many people that another publisher has to approve them.
extension RichPushClient {
  /// What awaits approval, of all senders, newest first; `before` takes the `next` of a page.
  ///
  /// ```swift
  /// for one in try await client.approvals().notifications {
  ///   print(one.id, one.sender ?? "", one.approval?.people ?? 0, one.message.text)
  /// }
  /// ```
  public func approvals(limit: Int? = nil, before: Int? = nil) async throws -> SentPage {
    let query = Self.query([("limit", limit.map(String.init)), ("before", before.map(String.init))])
    return try await value(request("GET", ["api", "approvals"], query: query))
  }

  /// Approves another publisher's notification, or refuses it.
  ///
  /// ```swift
  /// for one in try await client.approvals().notifications {
  ///   guard let version = one.approval?.version else { continue }
  ///   try await client.decide(one.id, .approving(version: version))
  /// }
  /// ```
  ///
  /// - Throws: ``RichPushError`` with the status 409 if it was changed meanwhile, or does not await approval any more.
  @discardableResult
  public func decide(_ id: Int, _ decision: ApprovalDecision) async throws -> Approval {
    try await value(
      request("POST", ["api", "notifications", String(id), "approval"], json: decision))
  }
}
