import FoundationEssentials
import Primitives

extension EngineTables {
  func addPairing(_ code: Digest, short: Digest, of user: UserID) async throws -> Pairing? {
    let now = now()
    return try await database.write { transaction in
      guard try transaction.lockQuota(of: user) else { return nil }
      let pairing = try transaction.insertPairing(code, short: short, ofUserInQuota: user, at: now)
      try transaction.audit(.pairingAdded, .pairing(pairing.id, of: user), at: now)
      return pairing
    }
  }

  func pairings(of user: UserID) async throws -> [Pairing] {
    let now = now()
    return try await database.read { connection in
      try connection.all(
        """
        SELECT id, created, expires FROM pairing
        WHERE user_id = $1 AND ended = 0 AND expires > $2 ORDER BY id DESC
        """, user, now, as: Pairing.init)
    }
  }

  func endPairing(_ id: Int, user: UserID?) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let owner = try transaction.value(
        """
        UPDATE pairing SET ended = 1 WHERE id = $1 AND ended = 0 AND expires > $2
          AND (CAST($3 AS bigint) IS NULL OR user_id = $3)
        RETURNING user_id
        """, id, now, user, as: UserID.self)
      guard let owner else { return false }
      try transaction.audit(.pairingRemoved, .pairing(id, of: owner), at: now)
      return true
    }
  }

  func redeemPairing(_ code: Digest, for device: NewDevice) async throws -> PairingResult {
    let now = now()
    return try await database.write { transaction in
      switch try transaction.endPairing(code, at: now) {
      case .unknown: return .unknown
      case .ended: return .ended
      case .taken(let pairing, let user, let name):
        guard try transaction.putDevice(device, of: user, named: name, at: now) else {
          try transaction.run("UPDATE pairing SET ended = 0 WHERE id = $1", pairing.id)
          return .notOwn
        }
        try transaction.audit(
          .deviceAdded, .device(device.registration, of: user),
          by: .shown(.code, of: user, .device), at: now)
        return .paired(user: user, name: name)
      }
    }
  }

  func forwardPairing(_ code: Digest, to next: Digest) async throws -> ForwardedPairing {
    let now = now()
    return try await database.write { transaction in
      switch try transaction.endPairing(code, at: now) {
      case .unknown: .unknown
      case .ended: .ended
      case .taken(let pairing, let user, _):
        .forwarded(
          try transaction.insertPairing(
            next, short: nil, of: user, at: now, until: pairing.expires))
      }
    }
  }
}

/// What became of a code that this transaction wanted for itself.
private enum TakenPairing {
  case taken(pairing: (id: Int, expires: Date), user: UserID, name: String)
  case unknown
  case ended
}

extension Changing {
  /// Adds an open code to a user whose row is locked; throws `conflict` if there are too many.
  @discardableResult
  func insertPairing(
    _ code: Digest, short: Digest? = nil, ofUserInQuota user: UserID, at now: Date
  ) throws -> Pairing {
    let open = try value(
      "SELECT count(*) FROM pairing WHERE user_id = $1 AND ended = 0 AND expires > $2", user, now,
      as: Int.self)
    if open ?? 0 >= UserQuota.pairings { throw StoreError.tooManyPairings }
    return try insertPairing(
      code, short: short, of: user, at: now, until: now + Pairing.lifetime)
  }

  fileprivate func insertPairing(
    _ code: Digest, short: Digest?, of user: UserID, at now: Date, until expires: Date
  ) throws -> Pairing {
    let id = try value(
      """
      INSERT INTO pairing(user_id, hash, short_hash, created, expires) VALUES ($1, $2, $3, $4, $5)
      RETURNING id
      """, user, code, short, now, expires, as: Int.self)
    guard let id else { throw StoreError(.failed, "the code was not stored") }
    return Pairing(id: id, created: now.stored, expires: expires.stored)
  }

  /// Ends an open code by its hash or that of its short form, for the one who does it first.
  fileprivate func endPairing(_ code: Digest, at now: Date) throws -> TakenPairing {
    let found = try first(
      "SELECT id, user_id, expires FROM pairing WHERE hash = $1 OR short_hash = $1 ORDER BY id DESC",
      code
    ) { row in
      (
        id: try row.next(Int.self), user: try row.next(UserID.self),
        expires: try row.next(Date.self)
      )
    }
    // The user's row is locked first, as by everything else that changes what belongs to a user.
    guard let found, try lockQuota(of: found.user),
      let name = try value("SELECT name FROM users WHERE id = $1", found.user, as: String.self)
    else { return .unknown }
    let taken = try run(
      "UPDATE pairing SET ended = 1 WHERE id = $1 AND ended = 0 AND expires > $2", found.id, now)
    return taken == 1
      ? .taken(pairing: (found.id, found.expires), user: found.user, name: name) : .ended
  }
}
