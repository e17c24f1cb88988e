import FoundationEssentials
import Primitives

extension EngineTables {
  func addDraft(_ new: DraftChange, by user: UserID) async throws -> StoredDraft? {
    let now = now()
    return try await database.write { transaction in
      try transaction.requireSpace()
      guard try transaction.lockQuota(of: user) else { return nil }
      let count = try transaction.value(
        "SELECT count(*) FROM draft WHERE author = $1", user, as: Int.self)
      guard count ?? 0 < UserQuota.drafts else { throw StoreError.tooManyDrafts }
      let id = try transaction.value(
        """
        INSERT INTO draft(name, content, template, version, author, editor, created, updated, asset)
        VALUES ($1, $2, $3, 1, $4, $4, $5, $5, $6) RETURNING id
        """, new.name, new.content, new.isTemplate ? 1 : 0, user, now, new.storedAsset, as: Int.self
      )
      return try id.flatMap { try transaction.draft($0) }
    }
  }

  func draft(_ id: Int) async throws -> StoredDraft? {
    try await database.read { try $0.draft(id) }
  }

  func drafts(
    areTemplates: Bool, skipping skipped: Int, limit: Int
  ) async throws -> [StoredDraft] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredDraft.columns) WHERE template = $1
        ORDER BY \(areTemplates ? "draft.name, draft.id" : "updated DESC, draft.id DESC")
        LIMIT $2 OFFSET $3
        """, areTemplates ? 1 : 0, limit, skipped, read: StoredDraft.init)
    }
  }

  func changeDraft(
    _ id: Int, _ change: DraftChange, version: Int?, by user: UserID
  ) async throws -> DraftResult {
    let now = now()
    return try await database.write { transaction in
      try transaction.requireSpace()
      let changed = try transaction.run(
        """
        UPDATE draft SET name = $1, content = $2, template = $3, editor = $4, updated = $5, asset = $8,
          version = version + 1
        WHERE id = $6 AND version = COALESCE(CAST($7 AS bigint), version)
        """, change.name, change.content, change.isTemplate ? 1 : 0, user, now, id, version,
        change.storedAsset)
      guard let draft = try transaction.draft(id) else { return .missing }
      return changed == 1 ? .changed(draft) : .changedMeanwhile(draft)
    }
  }

  func removeDraft(_ id: Int, version: Int?) async throws -> Bool {
    try await database.write { transaction in
      try transaction.run(
        "DELETE FROM draft WHERE id = $1 AND version = COALESCE(CAST($2 AS bigint), version)", id,
        version) == 1
    }
  }
}

extension Queryable {
  fileprivate func draft(_ id: Int) throws -> StoredDraft? {
    try first("SELECT \(StoredDraft.columns) WHERE draft.id = $1", id, read: StoredDraft.init)
  }
}

extension DraftChange {
  fileprivate var storedAsset: String? { asset.map { $0.richType + "/" + $0.name } }
}

extension StoredDraft {
  static let columns = """
    draft.id, draft.name, content, template = 1, version, authors.name, editors.name, draft.created,
      updated
    FROM draft LEFT JOIN users AS authors ON authors.id = author
      LEFT JOIN users AS editors ON editors.id = editor
    """

  init(_ row: inout some Row) throws {
    (id, name, content) = (try row.next(), try row.next(), try row.next())
    (isTemplate, version) = (try row.next(), try row.next())
    (author, editor) = (try row.next(), try row.next())
    (created, updated) = (try row.next(), try row.next())
  }
}
