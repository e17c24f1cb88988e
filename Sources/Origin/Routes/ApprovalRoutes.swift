import Delivery
import FoundationEssentials
import HTTP
import RichPushAPI
import Store

/// What awaits the approval of another publisher than its sender.
struct ApprovalRoutes: Sendable {
  let store: Store

  /// The longest reason, in characters.
  private static let longestReason = 500

  /// `GET /api/approvals`: the notifications of all senders that await approval, newest first.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("before", "limit")
    let limit = try query.number("limit", 1...500) ?? 50
    let before = try query.number("before", RequestContext.ids)
    let found = try await store.approvals.awaitingApproval(before: before, limit: limit + 1)
    let (now, page) = (Date(), found.prefix(limit))
    return .json(
      200,
      SentPage(
        notifications: page.map { SentPage.Entry($0, at: now) },
        next: found.count > limit ? page.last?.notification.id : nil))
  }

  /// `POST /api/notifications/<id>/approval`: approves one, or refuses it.
  func decide(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let id = try context.notificationID()
    let decision = try Self.decision(
      JSONCoding.request(ApprovalDecision.self, from: context.body))
    let caller = context.caller
    let result = try await store.approvals.decide(
      id, decision, by: caller.id, isAdmin: caller.role == .admin)
    switch result {
    case .decided(let decided):
      let people = try await store.sentNotification(id)?.notification.people
      return .json(200, Approval(decided, people: people ?? 0))
    case .missing: throw ServiceError.noSuchNotification
    case .notAwaiting:
      // Nobody else learns that there is such a notification.
      guard let sent = try await store.sentNotification(id),
        try await store.approvals.approval(of: id) != nil || caller.controls(sent.notification)
      else { throw ServiceError.noSuchNotification }
      throw ServiceError(.conflict, "It does not await approval, or not any more.")
    case .changedMeanwhile:
      throw ServiceError(
        .conflict, "It was changed meanwhile: read it again, and approve its version then.")
    case .isOwn:
      throw ServiceError(
        .forbidden, "Another publisher has to decide: you have sent or changed it yourself.")
    case .needsAdmin:
      throw ServiceError(
        .forbidden,
        "Only an admin may decide: its sender was removed or may not publish any more.")
    }
  }

  private static func decision(
    _ body: ApprovalDecision
  ) throws(ServiceError) -> NotificationDecision {
    if body.isApproved {
      guard body.reason == nil else {
        throw ServiceError(.init("reason", .rejected, "Only a refusal has a reason."))
      }
      guard let version = body.version else {
        throw ServiceError(
          .init(
            "version", .invalidRequest,
            "version is missing: it says which content you approve, as approval.version has it."))
      }
      return .approve(version: version)
    }
    guard let reason = body.reason, (1...longestReason).contains(reason.unicodeScalars.count),
      !reason.utf8.contains(0)
    else {
      throw ServiceError(
        .init(
          "reason", body.reason == nil ? .invalidRequest : .rejected,
          "A refusal needs a reason, from 1 to \(longestReason) characters, for its sender."))
    }
    return .refuse(reason: reason)
  }
}
