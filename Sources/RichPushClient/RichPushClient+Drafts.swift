public import RichPushAPI

/// Drafts and templates: what publishers have begun to write, for all of them.
extension RichPushClient {
  /// Keeps what the caller has begun to write.
  ///
  /// ```swift
  /// let new = NewDraft(.object(["title": .string("Sale")]), name: "Summer")
  /// let draft = try await client.addDraft(new)
  /// ```
  public func addDraft(_ new: NewDraft) async throws -> DraftPage.Draft {
    try await value(request("POST", ["api", "drafts"], json: new))
  }

  /// A page of the drafts, the last changed first, or of the templates by their names; `after` is `next` of the
  /// page before.
  ///
  /// ```swift
  /// for draft in try await client.drafts().drafts { print(draft.name, draft.editor ?? "") }
  /// ```
  public func drafts(
    areTemplates: Bool = false, after: Int? = nil, limit: Int? = nil
  ) async throws -> DraftPage {
    let pairs = [
      ("templates", areTemplates ? "" : nil), ("after", after.map(String.init)),
      ("limit", limit.map(String.init)),
    ]
    return try await value(request("GET", ["api", "drafts"], query: Self.query(pairs)))
  }

  /// Changes a draft; with a version only if nobody else has changed it since.
  ///
  /// ```swift
  /// for draft in try await client.drafts().drafts {
  ///   let new = NewDraft(draft.notification, name: "Old: " + draft.name)
  ///   try await client.changeDraft(draft.id, new, version: draft.version)
  /// }
  /// ```
  ///
  /// - Throws: ``RichPushError`` with the status 412 if somebody else has.
  @discardableResult
  public func changeDraft(
    _ id: Int, _ new: NewDraft, version: Int? = nil
  ) async throws -> DraftPage.Draft {
    var request = try request("PUT", ["api", "drafts", String(id)], json: new)
    request.fields["If-Match"] = version.map { "\"\($0)\"" }
    return try await value(request)
  }

  /// Removes a draft.
  ///
  /// ```swift
  /// for draft in try await client.drafts().drafts { try await client.removeDraft(draft.id) }
  /// ```
  public func removeDraft(_ id: Int) async throws {
    try await send(request("DELETE", ["api", "drafts", String(id)]))
  }
}
