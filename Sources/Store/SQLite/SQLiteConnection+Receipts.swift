import FoundationEssentials
import Primitives

extension SQLiteConnection {
  func record(_ state: RecordedState, _ receipts: [NewReceipt]) throws {
    guard state == .sent else { return try recordFirsts(receipts, state) }
    let times = Dictionary(grouping: receipts, by: \.time)
    for (time, receipts) in times.sorted(by: { $0.key < $1.key }) {
      let notifications = Dictionary(grouping: receipts, by: \.id)
      for (id, receipts) in notifications.sorted(by: { $0.key < $1.key }) {
        try recordSent(receipts.map(\.user), of: id, at: time)
      }
    }
  }

  private func recordSent(_ users: [UserID], of id: Int, at time: Date) throws {
    let first: [UserID] = try column(
      """
      UPDATE recipient SET sent = $1
      WHERE notification = $2 AND sent IS NULL AND user_id \(isIn("$3")) RETURNING user_id
      """, time, id, users)
    if first.isEmpty { return }
    try insertReceipts("sent", of: id, users: first, lane: "embedded", at: time)
    try count(.reached, of: [id: (first.count, time)])
  }
}

// MARK: - What devices tell

extension SQLiteConnection {
  /// Writes the times of the first receipts in a state, of users and of those devices that are registrations of
  /// theirs, with their events and counts.
  fileprivate func recordFirsts(_ receipts: [NewReceipt], _ state: RecordedState) throws {
    let areUsers = try changes(
      """
      UPDATE recipient SET \(state) = $1 WHERE user_id = $2 AND notification = $3 AND \(state) IS NULL
      """, receipts
    ) { ($0.time, $0.user, $0.id) }
    let areDevices = try firstsOfDevices(receipts, state, areUsers)
    var first: [NewReceipt] = []
    var counts: [Int: (number: Int, time: Date)] = [:]
    for (receipt, (isUsers, isDevices)) in zip(receipts, zip(areUsers, areDevices)) {
      // A device's receipt is the user's, too.
      if isDevices {
        first.append(receipt)
      } else if isUsers {
        first.append(receipt.withoutDevice)
      }
      if isUsers { counts[receipt.id, default: (0, receipt.time)].number += 1 }
    }
    try insertReceipts(first, state)
    try count(state.count, of: counts)
  }

  /// Writes the times of those receipts that are the first of a registration of a recipient; returns which.
  private func firstsOfDevices(
    _ receipts: [NewReceipt], _ state: RecordedState, _ areUsers: [Bool]
  ) throws -> [Bool] {
    var areFirst = [Bool](repeating: false, count: receipts.count)
    let given = receipts.indices.filter { receipts[$0].device != nil }
    let owners: [UserID?] = try values(
      "SELECT user_id FROM registration INDEXED BY registration_in_order WHERE id = $1", given
    ) { receipts[$0].device }
    let theirs = try zip(given, owners).filter { index, owner in
      // If it is not the user's first, it may be nobody's.
      let receipt = receipts[index]
      return try owner == receipt.user
        && (areUsers[index] || isRecipient(receipt.user, of: receipt.id))
    }.map(\.0)
    let changed = try changes(
      """
      INSERT INTO device_receipt AS receipt (notification, user_id, registration, \(state))
      VALUES ($1, $2, $3, $4)
      ON CONFLICT DO UPDATE SET \(state) = excluded.\(state) WHERE receipt.\(state) IS NULL
      """, theirs
    ) { (receipts[$0].id, receipts[$0].user, receipts[$0].device, receipts[$0].time) }
    for (index, isFirst) in zip(theirs, changed) { areFirst[index] = isFirst }
    return areFirst
  }

  private func isRecipient(_ user: UserID, of id: Int) throws -> Bool {
    try value(
      "SELECT true FROM recipient WHERE user_id = $1 AND notification = $2", user, id) ?? false
  }

  /// Inserts the events that tell of first receipts in a state.
  private func insertReceipts(_ receipts: [NewReceipt], _ state: RecordedState) throws {
    let senders: [Int: UserID?] = try dictionary(
      "SELECT id, sender FROM notification WHERE id \(isIn("$1"))",
      Array(Set(receipts.map(\.id))))
    try insert(
      "INSERT INTO event(type, publisher, user_id, notification, data, created) VALUES",
      "('receipt', ?, ?, ?, ?, ?)",
      receipts.filter { senders[$0.id] != nil }
    ) { (senders[$0.id] ?? nil, $0.user, $0.id, $0.data(state), $0.time) }
  }
}

extension NewReceipt {
  /// The data of the event.
  fileprivate func data(_ state: RecordedState) -> String {
    NewEvent.receipt(of: id, device == nil ? [:] : ["device": device], state: state.rawValue)
  }

  fileprivate var withoutDevice: Self { Self(state: state, id: id, user: user, time: time) }
}
