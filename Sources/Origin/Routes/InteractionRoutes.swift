import Delivery
import FoundationEssentials
import HTTP
import RichPushAPI
import Store

/// What devices report of notifications.
struct InteractionRoutes: Sendable {
  let store: Store

  /// `POST /api/notifications/<id>/interactions`: that a notification was displayed, opened, dismissed or answered.
  ///
  /// The end of a link (`?to=<job>.<token>`) shows who reports it, but does not allow to answer, because links pass
  /// through others' hands.
  func post(_ context: RequestContext) async throws -> Response {
    let (query, caller) = (try context.query("to"), context.caller)
    if query["to"] != nil {
      guard case .push(let push) = caller.proof, !push.isSecret else {
        throw ServiceError(
          .invalidRequest, "to is the end of a push's link, for a request without Authorization.")
      }
    }
    let id = try context.notificationID()
    let report = try JSONCoding.request(Interaction.self, from: context.body)
    guard let event = ReportedEvent(report.event) else {
      return try await answer(id, report, caller)
    }
    let isTheirs = try await store.notifications.record(
      event, of: id, user: caller.id, device: context.device)
    guard isTheirs else { throw ServiceError.noSuchNotification }
    return .empty(200)
  }

  /// Stores a button that was pressed, or a reply; 201, or 200 for a repetition.
  private func answer(
    _ id: Int, _ report: Interaction, _ caller: Caller
  ) async throws -> Response {
    guard caller.mayAnswer else {
      throw ServiceError(
        .forbidden,
        "\(report.event) needs the device's token or the secret of a push to it; "
          + "a link or the user's password is not enough.")
    }
    let receipts = try await store.notifications.isFetchRecorded(id, user: caller.id, device: nil)
    guard receipts != nil, let notification = try await store.notifications.notification(id),
      !notification.isHeld(at: Date())
    else { throw ServiceError.noSuchNotification }
    guard let new = try InteractionInsert(report, to: notification, from: caller) else {
      throw ServiceError(.internalError, "The event is not known.")
    }
    switch try await store.interactions.add(new) {
    case .added: return .empty(201)
    case .repeated: return .empty(200)
    case .notFound: throw ServiceError.noSuchNotification
    }
  }
}

extension ReportedEvent {
  /// Nil for an answer.
  fileprivate init?(_ event: Interaction.Event) {
    switch event {
    case .displayed: self = .displayed
    case .opened: self = .opened
    case .dismissed: self = .dismissed
    case .action, .reply: return nil
    }
  }
}

extension InteractionInsert {
  /// Nil for what is no answer.
  ///
  /// - Throws: `rejected` if the notification has no such button, or one of another kind.
  fileprivate init?(
    _ report: Interaction, to notification: StoredNotification, from caller: Caller
  ) throws(ServiceError) {
    guard let id = report.action else { return nil }
    func fault(_ reason: String) -> ServiceError {
      ServiceError(.init("action", .rejected, reason))
    }
    guard let button = notification.said.actions?.first(where: { $0.id == id }) else {
      throw fault("The notification has no action \(id.quoted).")
    }
    if let text = report.text, let key = report.key {
      guard button.input != nil else { throw fault("The action \(id.quoted) asks for no text.") }
      self.init(
        reply: text, key: key, to: id, of: notification.id, user: caller.id, device: caller.device)
    } else {
      guard button.input == nil else {
        throw fault("The action \(id.quoted) asks for a text; report a reply.")
      }
      self.init(action: id, of: notification.id, user: caller.id, device: caller.device)
    }
  }
}
