import FoundationEssentials
import HTTP
import Intake
import Media
import RichPushAPI
import Store

/// Where assets were used.
extension AssetRoutes {
  /// `GET /api/assets/<richType>/<name>/uses`: the caller's notifications with the asset or, for an admin, all, a page at
  /// a time, and the drafts and templates that name it.
  func uses(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    let query = try context.query("before", "limit")
    let limit = try query.number("limit", 1...500) ?? 50
    let before = try query.number("before", RequestContext.ids)
    let found = try await store.assets.assetUses(
      richType, name.value, by: context.caller.role == .admin ? nil : context.caller.id,
      before: before, limit: limit + 1)
    if before == nil, found.count == 0, found.drafts.isEmpty,
      try await store.assets.asset(richType, name.value) == nil
    {
      throw await assets.explaining(
        ServiceError(.notFound, "There is no asset \(name.value.quoted)."), richType, name)
    }
    let (page, now) = (found.notifications.prefix(limit), store.now())
    var uses = AssetUses(
      notifications: page.map { SentPage.Entry($0, at: now) },
      next: found.notifications.count > limit ? page.last?.notification.id : nil)
    if before == nil {
      uses.count = found.count
      uses.drafts = found.drafts.prefix(limit).map { draft in
        AssetUses.Draft(id: draft.id, name: draft.name, isTemplate: draft.isTemplate)
      }
    }
    return .json(200, uses)
  }
}
