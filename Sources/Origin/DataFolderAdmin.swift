package import FoundationEssentials
import Glibc
package import Media
import PluginHost
package import Primitives
import Push
package import RichPushAPI
package import Store

/// Manages a data folder for the command line, with or without a running server.
package struct DataFolderAdmin: Sendable {
  private let store: Store

  /// Opens the data folder, with the PostgreSQL database at a URL if one is given, and with the object store
  /// that has its content, if that is needed.
  ///
  /// With `creates`, an absent or empty folder becomes a new store.
  package init(
    data: String, database: String? = nil, objects: ObjectStoreSettings? = nil,
    creates: Bool = false
  ) throws {
    store = try Store(
      folder: data, database: database, access: creates ? .sharedOrNew : .shared,
      objects: objects?.configuration)
  }

  /// Whether there is a store in a folder; false also if this user cannot read the folder.
  package static func isStore(_ folder: String) -> Bool { Store.exists(in: folder) }

  /// Throws unless a store is in a folder or could be made there; changes nothing.
  package static func requireSpace(in folder: String) throws { try Store.requireSpace(in: folder) }

  /// Throws unless a server could use the records now: the database at a URL, or else what is in a folder.
  ///
  /// Nothing is changed.
  /// A process of root becomes the owner of the folder, since the database may let in nobody else.
  package static func checkRecords(data: String, database: String?) throws {
    try Store.requireSpace(in: data)
    guard let database else { return }
    try ServerUser.becomeOwner(of: data)
    try Store.checkDatabase(at: database)
  }

  /// Throws unless the only user who can sign in with a password is an admin who has one; nothing is changed.
  ///
  /// A store that is not there yet, or is of an earlier version, is not looked at.
  /// A process of root becomes the owner of the folder.
  package static func checkPasswordUser(
    of signIn: SignInSettings, data: String, database: String?
  ) throws {
    guard signIn.passwordUser != nil, isStore(data) || database != nil else { return }
    try ServerUser.becomeOwner(of: data)
    try signIn.checkPasswordUser(among: Store.users(in: data, database: database) ?? [])
  }

  /// Runs a command, whose changes of data folders the audit log has as those of the Unix user who runs it.
  package static func recordingUnixUser(_ command: () async throws -> Void) async rethrows {
    let actor = AuditActor.command(unixUser: Int(getuid()))
    try await AuditActor.$current.withValue(actor) { try await command() }
  }

  // MARK: - Maintenance

  /// Verifies every blob, rendition and reference; repairs what can be derived from other data.
  ///
  /// - Returns: lines for people, and whether no problem is left.
  package func check(repairing: Bool) async throws -> (lines: [String], isSound: Bool) {
    let report = try await store.check(repairing: repairing)
    var lines = report.findings.map { ($0.isRepaired ? "repaired: " : "wrong: ") + $0.sentence }
    lines += report.notes.map { "not checked: \($0)" }
    let remote = report.objects.map { ", \($0) blobs in the object store" } ?? ""
    lines.append("\(report.blobs) blobs\(remote) and \(report.renditions) renditions verified")
    return (lines, report.isSound)
  }

  /// Copies everything except the renditions and what the object store has into a new folder, while the server
  /// runs.
  ///
  /// - Parameters:
  ///   - path: The folder to create, or an empty one.
  ///   - programs: The folder of `richpush-exec`, which knows what plugins may read.
  ///   - dump: Runs `pg_dump` with arguments, and more variables, for the records of a PostgreSQL database.
  ///   - progress: Called with a line for people.
  /// - Returns: lines for people: what the backup does not contain.
  /// - Throws: `OperatorError` if plugins may read the new folder.
  package func backup(
    to path: String, programs: String,
    dump:
      @escaping @Sendable (_ arguments: [String], _ environment: [String: String]) throws -> Void,
    progress: @escaping @Sendable (String) -> Void
  ) async throws -> [String] {
    let launcher = programs + "/richpush-exec"
    if let readable = try PluginHost.readableFolder(holding: path, launcher: launcher) {
      throw OperatorError("plugins may read \(readable): back up to another folder")
    }
    progress("copying the records")
    let report = try await store.backup(to: path, dump: { try dump($0.arguments, $0.environment) })
    {
      progress("copying content: \($0) of \($1) blobs")
    }
    // The backup is complete also if the database takes no entries now.
    try? await store.audit.addAuditEntries([AuditChange(.storeBackedUp)])
    let left =
      report.objects.map {
        [
          "not in the backup: \(report.blobs) blobs, which are in \($0)",
          "back up the bucket as well, after this backup or with versions",
        ]
      } ?? []
    return left + Self.lost(report.missing)
  }

  /// Creates a data folder from a backup; `path` must not exist, or be an empty folder.
  ///
  /// - Returns: lines for people: what else is to be done.
  package static func restore(from backup: String, to path: String) throws -> [String] {
    let report = try Store.restore(from: backup, to: path)
    guard let dump = report.dump else { return lost(report.missing) }
    return [
      "the records are for PostgreSQL, with the package postgresql-client:",
      "pg_restore --no-owner --exit-on-error --dbname=postgres://… \(dump)",
    ]
  }

  /// What to say of content that is not there.
  private static func lost(_ blobs: Int) -> [String] {
    blobs == 0
      ? [] : ["lost: \(blobs) blobs, which are not there; richpush store check says what had them"]
  }

  /// Copies the records of a data folder into an empty PostgreSQL database, or goes on with that.
  ///
  /// `address` is the URL without a password; `progress` is called with a line for people. Returns lines for
  /// people: what was done.
  package static func migrate(
    data: String, to url: String, address: String, progress: @escaping @Sendable (String) -> Void
  ) async throws -> [String] {
    let start = ContinuousClock.now
    let report = try await Store.migrate(folder: data, to: url, address: address) { step in
      let phase =
        switch step.phase {
        case .reading: "reading"
        case .copying: "copying"
        case .comparing: "comparing"
        }
      progress("\(phase) \(step.table): \(step.rows)\(step.total.map { " of \($0)" } ?? "") rows")
    }
    let time = Int(((ContinuousClock.now - start) / .seconds(1)).rounded(.up))
    let earlier = report.earlier > 0 ? "; \(report.earlier) had been copied before" : ""
    return [
      "copied \(report.rows - report.earlier) rows to \(address) in \(time) s\(earlier)",
      "compared all \(report.rows) rows: both databases have the same",
      "content stays where it is: \(report.blobs) blobs in \(data) or its object store",
      "next: richpush serve --data \(data) --database \(address)",
    ]
  }

  // MARK: - Users

  /// Checks the name and the role of a new user, and returns the role.
  ///
  /// - Throws: `OperatorError` for an invalid name or role.
  @discardableResult
  package static func check(user name: String, role: String) throws(OperatorError) -> Role {
    guard UserName.isValid(name) else {
      throw OperatorError(
        "a user's name must have from 1 to 64 letters, digits and “-_.@”, not \(name.quoted)")
    }
    guard let role = Role(rawValue: role) else {
      throw OperatorError("a role must be device, publisher or admin, not \(role.quoted)")
    }
    return role
  }

  /// The numbers of devices that a user can be allowed.
  package static let settableDevices = UserQuota.settableDevices

  /// Sets how many devices a user can register; existing registrations stay.
  ///
  /// - Throws: `OperatorError` if there is no such user.
  package func setMaxDevices(of name: String, to number: Int) async throws {
    guard try await store.accounts.setMaxDevices(of: name, to: number) else {
      throw OperatorError("there is no user \(name.quoted)")
    }
  }

  /// Adds a user, who can register `maxDevices` devices, or the usual number.
  ///
  /// - Throws: `OperatorError` for an invalid name, password or role, or a name that is taken.
  package func addUser(
    _ name: String, password: String, role: String, maxDevices: Int? = nil
  ) async throws {
    let role = try Self.check(user: name, role: role)
    let hash = try NewPassword(password, of: name).hash
    do {
      try await store.accounts.addUser(name, hash: hash, role: role, maxDevices: maxDevices)
    } catch let error as StoreError where error.code == .conflict {
      throw OperatorError(error.reason)
    }
  }

  /// Changes a user's password, and ends the registrations of the user's devices if asked to.
  ///
  /// - Throws: `OperatorError` for an invalid password, or if there is no such user.
  package func setPassword(
    of name: String, to password: String, endingRegistrations: Bool = false
  ) async throws {
    let hash = try NewPassword(password, of: name).hash
    guard
      try await store.accounts.setPassword(
        of: name, hash: hash, endingRegistrations: endingRegistrations)
    else {
      throw OperatorError("there is no user \(name.quoted)")
    }
  }

  /// All users, by name, with what providers of OpenID Connect call them.
  package func users() async throws -> [(
    name: String, role: String, number: Int, identities: [(subject: String, provider: String)]
  )] {
    let users = try await store.accounts.users()
    let identities = try await store.identities.identities(of: users.map(\.id))
    return users.map { user in
      let linked = (identities[user.id] ?? []).map { (subject: $0.subject, provider: $0.issuer) }
      return (user.name, user.role.rawValue, user.id.rawValue, linked)
    }
  }

  /// The devices of a user, without their push tokens, the last registered first.
  ///
  /// - Throws: `OperatorError` if there is no such user.
  package func devices(of name: String) async throws -> [DeviceList.Device] {
    try await store.accounts.registrations(ofUser: user(name)).map(DeviceList.Device.init)
  }

  /// Ends a registration of a user.
  ///
  /// - Throws: `OperatorError` if the user has no such registration.
  package func endRegistration(_ id: String, of name: String) async throws {
    guard try await store.accounts.removeRegistration(id, user: user(name)) else {
      throw OperatorError("\(name) has no registration \(id.quoted)")
    }
  }

  /// Makes a code by which a device of a user can be added, with a link to a server.
  ///
  /// With `addingGuest`, as in demo mode, a name that no user has yet becomes a guest's.
  ///
  /// - Throws: `OperatorError` if there is no such user.
  package func pair(
    _ name: String, at server: String, addingGuest: Bool
  ) async throws -> IssuedPairing {
    let id = try await addingGuest ? guest(name) : user(name)
    guard
      let pairing = try await IssuedPairing.issue(for: id, named: name, at: server, in: store)
    else { throw OperatorError("there is no user \(name.quoted)") }
    return pairing
  }

  /// Adds a device of a user that has another program's app, and returns the ID of its registration and its token.
  ///
  /// With `addingGuest`, as in demo mode, a name that no user has yet becomes a guest's. An `inbox` is that of a phone
  /// with ntfy's app for iOS.
  ///
  /// - Throws: `OperatorError` if there is no such user; what is wrong with a tag.
  package func addReader(
    named device: String, of name: String, tags: [String], inbox: NtfyInbox?, addingGuest: Bool
  ) async throws -> (registration: String, token: String) {
    let id = try await addingGuest ? guest(name) : user(name)
    let all = try RegistrationRoutes.check(tags: tags, of: name)
    let (code, token) = (PairingCode.long(), DeviceToken())
    var new = NewDevice(registration: RegistrationRoutes.newID(), token: token.hash)
    new.name = device
    new.origin = RegistrationOrigin(credential: "code")
    // As a phone that scans a code; nobody else ever sees this one.
    guard
      try await store.pairings.addPairing(code.hash, short: PairingCode.long().hash, of: id) != nil,
      case .paired = try await store.pairings.redeemPairing(code.hash, for: new),
      try await store.accounts.changeSettings(
        of: new.registration, user: id, { $0.tags = all }) != nil
    else { throw OperatorError("there is no user \(name.quoted)") }
    if let inbox {
      var change = RegistrationChange(platform: "ntfy", handle: inbox.address)
      change.keepsTags = true
      _ = try await store.accounts.putRegistration(new.registration, user: id, change)
    }
    return (new.registration, token.text)
  }

  /// The open codes of a user.
  ///
  /// - Throws: `OperatorError` if there is no such user.
  package func pairings(of name: String) async throws -> [PairingList.Pairing] {
    try await PairingList.open(of: user(name), named: name, in: store).pairings
  }

  /// Revokes an open code of a user.
  ///
  /// - Throws: `OperatorError` if the user has no such code.
  package func endPairing(_ id: String, of name: String) async throws {
    let owner = try await user(name)
    guard let number = Int(id), try await store.pairings.endPairing(number, user: owner) else {
      throw OperatorError("\(name) has no open code \(id)")
    }
  }

  /// Links a user with what a provider of OpenID Connect calls the same person.
  ///
  /// - Throws: `OperatorError` if there is no such user, the link is another user's, or the user has another one.
  package func link(_ name: String, with subject: String, at issuer: String) async throws {
    let isLinked: Bool
    do {
      isLinked = try await store.identities.link(
        name, with: Identity(issuer: issuer, subject: subject))
    } catch let error as StoreError where error.code == .conflict {
      throw OperatorError(error.reason)
    }
    guard isLinked else { throw OperatorError("there is no user \(name.quoted)") }
  }

  /// Ends a user's links with providers, and the sessions that began by them.
  ///
  /// - Throws: `OperatorError` if the user has none.
  package func unlink(_ name: String) async throws {
    guard try await store.identities.unlink(name) else {
      throw OperatorError("no user \(name.quoted) is linked with anybody")
    }
  }

  /// Those who have signed up and wait for approval, the longest first.
  package func signUps() async throws -> [SignUpPage.SignUp] {
    try await store.signUps.signUps(after: nil, limit: .max).map {
      SignUpPage.SignUp(
        user: $0.user, name: $0.name, subjects: $0.subjects, created: $0.created)
    }
  }

  /// Gives a user who has signed up the wanted subjects.
  ///
  /// - Throws: `OperatorError` if no such user waits.
  package func approve(_ name: String) async throws {
    guard try await store.signUps.approveSignUp(of: name) else {
      throw OperatorError("no user \(name.quoted) waits for approval")
    }
  }

  private func guest(_ name: String) async throws -> UserID {
    guard UserName.isValid(name),
      let user = try await store.accounts.userIDs(of: [name], allowingPasswordless: true)[name]
    else { throw OperatorError("no user can have the name \(name.quoted)") }
    return user
  }

  private func user(_ name: String) async throws -> UserID {
    guard let user = try await store.accounts.userID(of: name, allowingPasswordless: true) else {
      throw OperatorError("there is no user \(name.quoted)")
    }
    return user
  }

  /// Removes a user with all registrations; what the user has scheduled is held.
  package func removeUser(_ name: String) async throws {
    guard try await store.accounts.removeUser(name) else {
      throw OperatorError("there is no user \(name.quoted)")
    }
  }

  // MARK: - A person's data

  /// Writes everything that the store has of a user to a file, as an archive that tar reads; `progress` is called with a
  /// line for people.
  ///
  /// - Throws: `OperatorError` if there is no such user.
  package func export(
    _ name: String, to output: FileDescriptor, progress: @escaping @Sendable (String) -> Void
  ) async throws {
    let user = try await user(name)
    try await store.audit.addAuditEntries([AuditChange(.userExported, .user(user))])
    let archive = PersonalArchive(store: store, user: user, name: name, progress: progress)
    try await archive.write(to: output)
  }

  /// The number of a user, also of one who is being erased; nil if there is none, but an erasure was interrupted after it
  /// had removed the name.
  ///
  /// - Throws: `OperatorError` if there is no such user.
  package func number(of name: String) async throws -> Int? {
    do { return try await user(name).rawValue } catch let error as OperatorError {
      let begun = try await store.erasures.erasures()
      if let erasure = begun.first(where: { $0.name == name }) { return erasure.user.rawValue }
      // Any name may be that of one whose name is removed already.
      guard begun.contains(where: { $0.name == nil }) else { throw error }
      return nil
    }
  }

  /// What the erasure of a user would remove, as lines for people.
  package func erasure(of number: Int) async throws -> [String] {
    let extent = try await store.erasures.erasureExtent(of: UserID(rawValue: number))
    return [
      "devices: \(extent.devices)",
      "notifications to this user alone, with their content: \(extent.ownNotifications)",
      "in notifications to others as well, which stay: receipts and replies, of \(extent.sharedNotifications)",
      "of what the user has sent, which stays for others: the name, in \(extent.sent)",
    ]
  }

  /// Removes a user, and has everything of the user follow.
  ///
  /// - Throws: `OperatorError` if no user has had this number.
  package func beginErasure(of number: Int) async throws {
    guard
      try await store.erasures.beginErasure(of: UserID(rawValue: number), keepingAdmin: false)
    else { throw OperatorError("no user has had the number \(number)") }
  }

  /// Removes what is left of users who are being erased, or waits until the server that owns the data folder has.
  ///
  /// `progress` is called with a line for people. Returns lines for people: what may be left, and where. Throws
  /// `OperatorError` if it cannot be finished now, because of the object store.
  package func finishErasures(
    progress: @escaping @Sendable (String) -> Void
  ) async throws -> [String] {
    while true {
      do {
        progress("removing what is left")
        let report = try await store.continueErasures()
        if try await store.erasures.erasures().isEmpty { return report.notes }
        if let obstacle = report.obstacle {
          throw OperatorError("not finished, run this command again: \(obstacle)")
        }
        for note in report.notes { progress(note) }
      } catch let error as StoreError where error.code == .inUse {
        // The server does it: it may be using what is to be removed.
        if try await store.erasures.erasures().isEmpty { return [] }
        do { try await store.probeObjects() } catch {
          throw OperatorError(
            "not finished, the running server goes on when the object store is back: \(error.logDescription)"
          )
        }
        progress("the running server removes what is left")
      }
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  // MARK: - Access tokens

  /// Makes an access token for the publisher that it names.
  ///
  /// With `addingGuest`, as in demo mode, a name that no user has yet becomes a guest's.
  ///
  /// - Throws: what is wrong with it, or `OperatorError` if there is no such user.
  package func addAccessToken(
    _ new: NewAccessToken, addingGuest: Bool = false
  ) async throws -> IssuedAccessToken {
    let name = new.user ?? ""
    let user = try await store.publisher(named: name, isDemo: addingGuest)
    if user != nil, new.isForReading {
      try await store.requireAdmin(named: name, isDemo: addingGuest)
    }
    guard let user, let issued = try await IssuedAccessToken.issue(new, for: user, in: store)
    else { throw OperatorError("there is no user \(name.quoted)") }
    return issued
  }

  /// The access tokens of a user, or of all, newest first.
  ///
  /// - Throws: `OperatorError` if there is no such user.
  package func accessTokens(of name: String?) async throws -> [AccessTokenList.Token] {
    let user: UserID? = if let name { try await self.user(name) } else { nil }
    return try await store.accessTokens.accessTokens(of: user).map(AccessTokenList.Token.init)
  }

  /// Removes an access token of a user, which is given by its number or its name.
  ///
  /// - Throws: `OperatorError` if the user has no such token.
  package func removeAccessToken(_ token: String, of name: String) async throws {
    let owner = try await user(name)
    let found = try await store.accessTokens.accessTokens(of: owner)
      .first { $0.name == token || String($0.id) == token }
    guard let found, try await store.accessTokens.removeAccessToken(found.id, of: owner) else {
      throw OperatorError("\(name) has no access token \(token.quoted)")
    }
  }

  // MARK: - Keys that sign media links

  /// The public key by which Web Push services recognize this server.
  package func vapidKey() async throws -> String {
    try VAPIDKey(hexadecimal: await store.accounts.vapidSecret()).publicKey
  }

  /// Every valid key; the first one signs.
  package func linkKeys() async throws -> [(id: Int, created: Date)] {
    try await store.accounts.linkKeys().map { ($0.id, $0.created) }
  }

  /// Creates the key that signs from now on, and returns its ID.
  package func rotateLinkKey() async throws -> Int { try await store.accounts.addLinkKey() }

  /// Removes the keys of TLS session tickets: a server makes another, and resumes no session that has begun.
  package func removeTicketKeys() async throws { try await store.tickets.removeTicketKeys() }

  /// Removes an older key, which invalidates every link that it signed.
  ///
  /// - Throws: `OperatorError` for the key that signs, and for one that does not exist.
  package func removeLinkKey(_ id: Int) async throws {
    guard try await store.accounts.removeLinkKey(id) else {
      throw OperatorError(
        "there is no older key \(id); the newest signs, so rotate before you remove it")
    }
  }
}
