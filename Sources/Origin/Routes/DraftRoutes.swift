import HTTP
import Intake
import Primitives
import RichPushAPI
import Store

/// `/api/drafts`: notifications that publishers have begun to write, for all publishers.
struct DraftRoutes: Sendable {
  let store: Store

  /// The longest name, in characters.
  private static let longestName = 50

  /// `GET /api/drafts`: the drafts or, with `templates`, the templates.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("templates", "after", "limit")
    let limit = try query.number("limit", 1...200) ?? 50
    let after = try query.number("after", 0...1_000_000) ?? 0
    let found = try await store.drafts.drafts(
      areTemplates: query["templates"] != nil, skipping: after, limit: limit + 1)
    return .json(
      200,
      DraftPage(
        drafts: found.prefix(limit).map(DraftPage.Draft.init),
        next: found.count > limit ? after + limit : nil))
  }

  /// `POST /api/drafts`: begins one.
  func post(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let change = try Self.change(context)
    guard let added = try await store.drafts.addDraft(change, by: context.caller.id) else {
      throw ServiceError.callerChanged
    }
    return Self.response(201, added, fields: ["Location": "/api/drafts/\(added.id)"])
  }

  /// `GET /api/drafts/<id>`.
  func get(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    guard let found = try await store.drafts.draft(Self.id(context)) else {
      throw Self.noSuchDraft
    }
    return Self.response(200, found)
  }

  /// `PUT /api/drafts/<id>`: changes one, with `If-Match` only if nobody else has meanwhile.
  func put(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let change = try Self.change(context)
    let result = try await store.drafts.changeDraft(
      Self.id(context), change, version: context.version(of: "draft"), by: context.caller.id)
    switch result {
    case .changed(let draft): return Self.response(200, draft)
    case .missing: throw Self.noSuchDraft
    case .changedMeanwhile(let draft):
      throw ServiceError(
        .preconditionFailed,
        "\(draft.editor ?? "Somebody") has changed this draft meanwhile: read it again.")
    }
  }

  /// `DELETE /api/drafts/<id>`: removes one, with `If-Match` only if nobody has changed it meanwhile.
  func delete(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let (id, version) = (try Self.id(context), try context.version(of: "draft"))
    if try await store.drafts.removeDraft(id, version: version) { return .empty(204) }
    guard try await store.drafts.draft(id) != nil else { throw Self.noSuchDraft }
    throw ServiceError(
      .preconditionFailed, "Somebody has changed this draft meanwhile: read it again.")
  }

  /// What the body makes of a draft.
  ///
  /// - Throws: everything that is wrong with it.
  private static func change(_ context: RequestContext) throws -> DraftChange {
    let new = try JSONCoding.request(NewDraft.self, from: context.body)
    var faults: [ServiceError.Fault] = []
    let name = new.name.unicodeScalars
    if name.count > longestName || new.name.contains(where: \.isNewline)
      || name.contains(where: { $0.properties.generalCategory == .control })
    {
      let reason =
        "name must be one line of at most \(longestName) characters, without control characters."
      faults.append(.init("name", .rejected, reason))
    }
    let content = JSONCoding.text(new.notification)
    if new.notification.members == nil {
      faults.append(.init("notification", .invalidRequest, "notification must be an object."))
    } else if content.utf8.count > UserQuota.draft {
      faults.append(
        .init(
          "notification", .tooLarge,
          "notification must have at most \(UserQuota.draft >> 10) KiB."))
    }
    if let error = ServiceError(faults) { throw error }
    var change = DraftChange(name: new.name, content: content, isTemplate: new.isTemplate)
    if let richType = new.notification.richType.text,
      let name = new.notification.payload.text.flatMap({ AssetName($0) })
    {
      change.asset = (richType, name.value)
    }
    return change
  }

  private static func id(_ context: RequestContext) throws(ServiceError) -> Int {
    guard let id = context.parameters.first.flatMap({ Int($0) }) else { throw noSuchDraft }
    return id
  }

  private static func response(
    _ status: Int, _ draft: StoredDraft, fields: Fields = Fields()
  ) -> Response {
    var fields = fields
    fields["ETag"] = "\"\(draft.version)\""
    fields["Cache-Control"] = "no-store"
    return .json(status, DraftPage.Draft(draft), fields: fields)
  }

  private static let noSuchDraft = ServiceError(
    .notFound, "There is no such draft: it was sent or removed.")
}

extension DraftPage.Draft {
  /// A draft of the store.
  fileprivate init(_ stored: StoredDraft) {
    self.init(
      id: stored.id, name: stored.name, notification: JSONValue(stored.content.utf8) ?? .null,
      isTemplate: stored.isTemplate, version: stored.version, created: stored.created,
      updated: stored.updated)
    (author, editor) = (stored.author, stored.editor)
  }
}
