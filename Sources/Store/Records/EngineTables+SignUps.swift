import FoundationEssentials
import Primitives

extension EngineTables {
  func signUp(_ new: NewSignUp) async throws -> SignUpResult {
    let now = now()
    return try await database.write { transaction in
      try transaction.requireSpace()
      if new.isWaiting {
        // Others do not count at the same time.
        try transaction.waitForOthers("sign-up")
        let waiting: Int? = try transaction.value("SELECT count(*) FROM sign_up WHERE waiting = 1")
        if waiting ?? 0 >= UserQuota.waitingSignUps { throw StoreError.tooManySignUps }
      }
      let added = try transaction.value(
        """
        INSERT INTO users(name, hash, role, created) VALUES ($1, $2, 'device', $3)
        ON CONFLICT DO NOTHING RETURNING id
        """, new.user, new.hash, now, as: UserID.self)
      guard let user = added else { return .nameTaken }
      try transaction.run(
        "INSERT INTO sign_up(user_id, subjects, created, waiting) VALUES ($1, $2, $3, $4)", user,
        StringList(new.subjects), now, new.isWaiting ? 1 : 0)
      let result = try transaction.addDevice(of: new, user, at: now)
      if result == .deviceTaken {
        try transaction.remove(user, at: now)
      } else {
        try transaction.audit(.userSignedUp, .user(user), at: now)
      }
      return result
    }
  }

  func signUps(after user: UserID?, limit: Int) async throws -> [WaitingSignUp] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT users.id, users.name,
          (SELECT max(registration.name) FROM registration WHERE registration.user_id = users.id),
          subjects, sign_up.created
        FROM sign_up JOIN users ON users.id = sign_up.user_id
        WHERE waiting = 1 AND sign_up.user_id > $1 ORDER BY sign_up.user_id LIMIT $2
        """, user?.rawValue ?? 0, max(0, limit)
      ) { row in
        WaitingSignUp(
          id: try row.next(), user: try row.next(), name: try row.next(),
          subjects: try row.next(StringList.self).items, created: try row.next())
      }
    }
  }

  func approveSignUp(of name: String) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let approved = try transaction.first(
        """
        UPDATE sign_up SET waiting = 0
        WHERE waiting = 1 AND user_id = (SELECT id FROM users WHERE name = $1)
        RETURNING user_id, subjects
        """, name
      ) { row in (user: try row.next(UserID.self), subjects: try row.next(StringList.self)) }
      guard let approved else { return false }
      for subject in approved.subjects.items {
        try transaction.run(
          """
          INSERT INTO registration_tag(tag, registration)
          SELECT $1, id FROM registration WHERE user_id = $2 ON CONFLICT DO NOTHING
          """, subject, approved.user)
      }
      try transaction.audit(.userApproved, .user(approved.user), at: now)
      return true
    }
  }

  func refuseSignUp(of name: String) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let waiting = try transaction.value(
        """
        SELECT true FROM sign_up
        WHERE waiting = 1 AND user_id = (SELECT id FROM users WHERE name = $1)
        \(transaction.lock("FOR UPDATE"))
        """, name, as: Bool.self)
      return try waiting == true && transaction.removeUser(named: name, at: now)
    }
  }

  func isWaiting(_ user: UserID) async throws -> Bool? {
    try await database.read { connection in
      try connection.value("SELECT waiting = 1 FROM sign_up WHERE user_id = $1", user)
    }
  }
}

extension Changing {
  /// Makes a user who has added itself one like any other, whose tags are not limited.
  func endSignUp(of user: UserID) throws {
    try run("DELETE FROM sign_up WHERE user_id = $1", user)
  }

  fileprivate func addDevice(
    of new: NewSignUp, _ user: UserID, at now: Date
  ) throws -> SignUpResult {
    let subjects = new.isWaiting ? [] : new.subjects
    guard var change = new.change else {
      let isPut = try putDevice(new.device, of: user, named: new.user, tags: subjects, at: now)
      return isPut ? .added(endedOf: nil) : .deviceTaken
    }
    change.tags = ["username:" + new.user] + subjects
    (change.name, change.origin) = (new.device.name, new.device.origin)
    (change.language, change.timeZone) = (new.device.language, new.device.timeZone)
    let id = new.device.registration
    guard case .stored(let former) = try putRegistration(id, user: user, change, at: now) else {
      return .deviceTaken
    }
    try setToken(new.device.token, of: id, user: user, at: now)
    return .added(endedOf: former)
  }
}
