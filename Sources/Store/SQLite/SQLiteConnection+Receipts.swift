import FoundationEssentials
import Primitives

extension SQLiteConnection {
  func record(_ state: RecordedState, _ receipts: [NewReceipt]) throws {
    switch state {
    case .fetched: try recordFetched(receipts)
    case .read: for receipt in receipts { try recordRead(receipt) }
    case .sent:
      let times = Dictionary(grouping: receipts, by: \.time)
      for (time, receipts) in times.sorted(by: { $0.key < $1.key }) {
        let notifications = Dictionary(grouping: receipts, by: \.id)
        for (id, receipts) in notifications.sorted(by: { $0.key < $1.key }) {
          try recordSent(receipts.map(\.user), of: id, at: time)
        }
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
    try count("reached", of: [id: (first.count, time)], first: "first_sent")
  }

  private func recordRead(_ receipt: NewReceipt) throws {
    let (id, user, time) = (receipt.id, receipt.user, receipt.time)
    var isDevices = false
    if let device = receipt.device {
      isDevices =
        try value(
          """
          INSERT INTO device_receipt AS receipt (notification, user_id, registration, read)
          SELECT notification, recipient.user_id, registration.id, $1
          FROM recipient JOIN registration ON registration.user_id = recipient.user_id
          WHERE notification = $2 AND recipient.user_id = $3 AND registration.id = $4
          ON CONFLICT DO UPDATE SET read = excluded.read WHERE receipt.read IS NULL RETURNING true
          """, time, id, user, device, as: Bool.self) == true
      if isDevices { try insertReceipt("read", of: id, user: user, device: device, at: time) }
    }
    let isUsers =
      try run(
        """
        UPDATE recipient SET read = $1 WHERE user_id = $2 AND notification = $3 AND read IS NULL
        """, time, user, id) == 1
    // A device's receipt is the user's, too.
    if isUsers, !isDevices { try insertReceipt("read", of: id, user: user, at: time) }
    if isUsers { try count("read", of: [id: (1, time)], first: "first_read") }
  }
}

// MARK: - Fetches

extension SQLiteConnection {
  /// Writes the times of first fetches, of users and of those devices that are registrations of theirs, with
  /// their events and counts.
  fileprivate func recordFetched(_ fetches: [NewReceipt]) throws {
    let areUsers = try changes(
      """
      UPDATE recipient SET fetched = $1 WHERE user_id = $2 AND notification = $3 AND fetched IS NULL
      """, fetches
    ) { ($0.time, $0.user, $0.id) }
    let areDevices = try firstsOfDevices(fetches, areUsers)
    var receipts: [NewReceipt] = []
    var counts: [Int: (number: Int, time: Date)] = [:]
    for (fetch, (isUsers, isDevices)) in zip(fetches, zip(areUsers, areDevices)) {
      // A device's receipt is the user's, too.
      if isDevices {
        receipts.append(fetch)
      } else if isUsers {
        receipts.append(fetch.withoutDevice)
      }
      if isUsers { counts[fetch.id, default: (0, fetch.time)].number += 1 }
    }
    try insertReceipts(of: receipts)
    try count("fetched", of: counts, first: "first_fetched")
  }

  /// Writes the times of those fetches that are the first of a registration of a recipient; returns which.
  private func firstsOfDevices(
    _ fetches: [NewReceipt], _ areUsers: [Bool]
  ) throws -> [Bool] {
    var areFirst = [Bool](repeating: false, count: fetches.count)
    let given = fetches.indices.filter { fetches[$0].device != nil }
    let owners: [UserID?] = try values(
      "SELECT user_id FROM registration INDEXED BY registration_in_order WHERE id = $1", given
    ) { fetches[$0].device }
    let theirs = try zip(given, owners).filter { index, owner in
      // If it is not the user's first, it may be nobody's.
      let fetch = fetches[index]
      return try owner == fetch.user && (areUsers[index] || isRecipient(fetch.user, of: fetch.id))
    }.map(\.0)
    let changed = try changes(
      """
      INSERT INTO device_receipt AS receipt (notification, user_id, registration, fetched)
      VALUES ($1, $2, $3, $4)
      ON CONFLICT DO UPDATE SET fetched = excluded.fetched WHERE receipt.fetched IS NULL
      """, theirs
    ) { (fetches[$0].id, fetches[$0].user, fetches[$0].device, fetches[$0].time) }
    for (index, isFirst) in zip(theirs, changed) { areFirst[index] = isFirst }
    return areFirst
  }

  private func isRecipient(_ user: UserID, of id: Int) throws -> Bool {
    try value(
      "SELECT true FROM recipient WHERE user_id = $1 AND notification = $2", user, id) ?? false
  }

  /// Inserts the events that tell of first fetches.
  private func insertReceipts(of fetches: [NewReceipt]) throws {
    let senders: [Int: UserID?] = try dictionary(
      "SELECT id, sender FROM notification WHERE id \(isIn("$1"))", Array(Set(fetches.map(\.id))))
    try insert(
      "INSERT INTO event(type, publisher, user_id, notification, data, created) VALUES",
      "('receipt', ?, ?, ?, ?, ?)",
      fetches.filter { senders[$0.id] != nil }
    ) { (senders[$0.id] ?? nil, $0.user, $0.id, $0.receipt, $0.time) }
  }
}

extension NewReceipt {
  /// The data of the event.
  fileprivate var receipt: String {
    NewEvent.receipt(of: id, device == nil ? [:] : ["device": device], state: "fetched")
  }

  fileprivate var withoutDevice: Self { Self(state: state, id: id, user: user, time: time) }
}
