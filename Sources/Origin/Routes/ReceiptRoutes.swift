import FoundationEssentials
import HTTP
import RichPushAPI
import Store

/// The receipts and the deliveries of a notification, by page, for its sender and admins.
struct ReceiptRoutes: Sendable {
  let store: Store
  let exports: Exports

  /// `GET /api/notifications/<id>/receipts`: in the order in which the users were added; by page, or as a table.
  func receipts(_ context: RequestContext) async throws -> Response {
    let query = try context.query("state", "user", "after", "limit")
    let limit = try query.number("limit", 1...500) ?? 100
    let after = try query.number("after", RequestContext.ids) ?? 0
    let state = try query["state"].map(ReceiptState.init(query:))
    let id = try await notification(context)
    return try await exports.response(
      context, named: "receipts-\(id)", at: after, limit: limit, largest: 500
    ) { after, limit in
      try await page(of: id, in: state, for: query["user"], after: after ?? 0, limit: limit)
    }
  }

  private func page(
    of id: Int, in state: ReceiptState?, for name: String?, after: Int, limit: Int
  ) async throws -> ReceiptPage {
    let found: [Receipt]
    if let name {
      let user = try await store.accounts.userID(of: name, allowingPasswordless: true)
      found = try await store.notifications.receipts(of: id, users: user.map { [$0] } ?? [])
        .filter { (state == nil || $0.state == state) && $0.userID.rawValue > after }
    } else {
      found = try await store.notifications.receipts(
        of: id, in: state, after: after, limit: limit + 1)
    }
    let page = Array(found.prefix(limit))
    return ReceiptPage(
      receipts: try await store.messages(of: page, of: id),
      next: found.count > limit ? page.last?.userID.rawValue : nil)
  }

  /// `GET /api/notifications/<id>/deliveries`: in the order in which they were queued.
  func deliveries(_ context: RequestContext) async throws -> Response {
    let query = try context.query("state", "lane", "after", "limit")
    let limit = try query.number("limit", 1...500) ?? 100
    let after = try query.number("after", RequestContext.ids) ?? 0
    let state = try query["state"].map(JobState.init(query:))
    let id = try await notification(context)
    let found = try await store.outbox.deliveries(
      of: id, in: state, lane: query["lane"], after: after, limit: limit + 1)
    let page = Array(found.prefix(limit))
    return .json(
      200,
      DeliveryPage(
        deliveries: try await store.messages(of: page, of: id),
        next: found.count > limit ? page.last?.job : nil))
  }

  /// `GET /api/notifications/<id>/interactions`: the buttons that were pressed, and the replies, in the order in which
  /// they came.
  func interactions(_ context: RequestContext) async throws -> Response {
    let query = try context.query("after", "limit")
    let limit = try query.number("limit", 1...500) ?? 100
    let after = try query.number("after", RequestContext.ids) ?? 0
    let id = try await notification(context)
    let found = try await store.interactions.interactions(of: id, after: after, limit: limit + 1)
    let page = found.prefix(limit)
    return .json(
      200,
      InteractionPage(
        interactions: page.map(RecordedInteraction.init),
        next: found.count > limit ? page.last?.id : nil))
  }

  /// `GET /api/notifications/<id>/amendments`: what people have changed of it, the last change first.
  func amendments(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let found = try await store.notifications.amendments(of: notification(context))
    return .json(200, AmendmentList(amendments: found.map(RecordedAmendment.init)))
  }

  private func notification(_ context: RequestContext) async throws -> Int {
    try await store.controlledNotification(context).notification.id
  }
}

extension Store {
  /// The notification of a request whose caller may know what became of it with others.
  func controlledNotification(_ context: RequestContext) async throws -> SentNotification {
    guard let found = try await sentNotification(context.notificationID()),
      context.caller.mayRead(found.notification)
    else { throw ServiceError.noSuchNotification }
    return found
  }
}

extension Caller {
  /// Whether the caller may know all of a notification and change it: an admin, or its sender.
  ///
  /// Who may notify only itself, as a device's token and a former publisher, sees only what it sent to itself; an access
  /// token, only what was sent to those to whom it may send.
  func controls(_ notification: StoredNotification) -> Bool {
    role == .admin
      || notification.sender == id && (mayPublish || notification.to == [ownTag])
        && mayAddress(notification.to)
  }

  /// Whether the caller may know all of a notification: who controls it and, while it awaits approval, who may approve it.
  func mayRead(_ notification: StoredNotification) -> Bool {
    controls(notification)
      || notification.awaitsApproval && mayPublish && mayApprove
        && notification.expires.map { $0 > Date() } ?? true
  }

  /// Whether the caller has shown that the user is there, and not only a program or a device of the user.
  private var mayApprove: Bool {
    switch proof {
    case .name, .password, .session: true
    case .token, .push, .accessToken: false
    }
  }

  /// The audience that is the caller alone.
  var ownTag: String { "username:" + name }
}

extension ReceiptState {
  /// The state that the parameter `state` of a query names.
  fileprivate init(query name: String) throws(ServiceError) {
    guard let state = ReceiptState(rawValue: name) else {
      let names = ReceiptState.allCases.map(\.rawValue).joined(separator: ", ")
      throw ServiceError(.invalidRequest, "state must be one of \(names).")
    }
    self = state
  }
}

extension JobState {
  /// The state that the parameter `state` of a query names.
  init(query name: String) throws(ServiceError) {
    guard let state = JobState(rawValue: name) else {
      let names = JobState.allCases.map(\.rawValue).joined(separator: ", ")
      throw ServiceError(.invalidRequest, "state must be one of \(names).")
    }
    self = state
  }
}

// MARK: - Messages

extension Store {
  /// Receipts of a notification as they are sent, with those of the users' devices.
  func messages(
    of receipts: [Receipt], of notification: Int
  ) async throws -> [RichNotification.Receipt] {
    let devices = try await devices(of: receipts.map(\.userID), notification)
    return receipts.map { $0.message(with: $0.user.flatMap { devices[$0] } ?? []) }
  }

  /// Jobs of a notification as they are sent, with the states of the receipts.
  func messages(
    of jobs: [JobRecord], of notification: Int
  ) async throws -> [RichNotification.Delivery] {
    let users = Array(Set(jobs.compactMap(\.userID)))
    let receipts = try await notifications.receipts(of: notification, users: users)
    let byUser = Dictionary(uniqueKeysWithValues: receipts.map { ($0.userID, $0) })
    let devices = try await devices(of: users, notification)
    return jobs.map { job in
      job.message(with: job.userID.flatMap { byUser[$0] }, job.user.flatMap { devices[$0] } ?? [])
    }
  }

  /// The receipts of users' devices, by the users' names.
  private func devices(
    of users: [UserID], _ notification: Int
  ) async throws -> [String: [DeviceReceipt]] {
    Dictionary(
      grouping: try await notifications.deviceReceipts(of: notification, users: users), by: \.user)
  }
}

extension JobRecord {
  /// The state of the push to one device: that of the device's receipt, once it has been sent and something came back.
  ///
  /// If no device of the user identifies itself, each of them has the user's state.
  fileprivate func message(
    with receipt: Receipt?, _ devices: [DeviceReceipt]
  ) -> RichNotification.Delivery {
    let own = devices.first { $0.registration == registration }
    let seen = devices.isEmpty ? receipt?.state : own?.state
    let hasSeen = seen.map { $0 != .queued && $0 != .sent } ?? false
    var delivery = RichNotification.Delivery(
      job: job, lane: lane, user: user, registration: registration,
      state: state == .sent && hasSeen ? seen?.rawValue ?? "" : state.rawValue, attempts: attempts,
      updated: updated, reference: reference, reason: reason)
    if state == .queued { delivery.due = due }
    return delivery
  }
}

extension Receipt {
  fileprivate var state: ReceiptState {
    ReceiptState(read, opened, fetched, displayed) ?? (sent != nil ? .sent : .queued)
  }

  /// The state for one user, in total and on each device that identifies itself.
  fileprivate func message(with devices: [DeviceReceipt]) -> RichNotification.Receipt {
    var message = RichNotification.Receipt(
      user: user, state: state.rawValue, sent: sent, fetched: fetched, read: read,
      devices: devices.map(\.message))
    (message.displayed, message.opened) = (displayed, opened)
    message.dismissed = dismissed
    return message
  }
}

extension DeviceReceipt {
  /// A device has a receipt because it was sent something.
  fileprivate var state: ReceiptState { ReceiptState(read, opened, fetched, displayed) ?? .sent }

  fileprivate var message: RichNotification.Receipt.Device {
    var message = RichNotification.Receipt.Device(
      registration: registration, state: state.rawValue, fetched: fetched, read: read)
    (message.displayed, message.opened) = (displayed, opened)
    message.dismissed = dismissed
    return message
  }
}

extension ReceiptState {
  /// The furthest of the states that have a time; nil if none has.
  fileprivate init?(_ read: Date?, _ opened: Date?, _ fetched: Date?, _ displayed: Date?) {
    if read != nil {
      self = .read
    } else if opened != nil {
      self = .opened
    } else if fetched != nil {
      self = .fetched
    } else if displayed != nil {
      self = .displayed
    } else {
      return nil
    }
  }
}

extension RecordedAmendment {
  fileprivate init(_ stored: StoredAmendment) {
    self.init(
      editor: stored.editor, time: stored.time,
      earlier: JSONValue(stored.earlier.utf8)?.members ?? [:])
  }
}

extension RecordedInteraction {
  init(_ stored: StoredInteraction) {
    self.init(
      id: stored.id, user: stored.user, device: stored.device.isEmpty ? nil : stored.device,
      event: Interaction.Event(rawValue: stored.event) ?? .action, action: stored.action,
      text: stored.text, time: stored.time)
  }
}

extension RichNotification.FirstTimes {
  /// When a notification came so far first.
  init(_ counts: NotificationCounts) {
    self.init(sent: counts.firstSent, fetched: counts.firstFetched, read: counts.firstRead)
    (displayed, opened) = (counts.firstDisplayed, counts.firstOpened)
  }
}
