import FoundationEssentials
import Origin
import RichPushAPI
import Primitives

// Commands that change the data folder, also while a server is running.

/// `richpush user`: manages users.
enum UserCommand: Command {
  static let name = "user"
  static let summary =
    "adds, lists, exports and erases users and their devices, and changes passwords"
  static let help = """
      richpush user add alice --role publisher
      richpush user password alice        the old password stops working
      richpush user quota alice --max-devices 200
      richpush user list                  names, roles, the numbers that logs have, and links
      richpush user devices alice         the devices, without their push tokens
      richpush user devices alice --end phone-1
      richpush user pair alice            a QR code for alice's phone, instead of a password
      richpush user pairings alice        the codes that are open
      richpush user pairings alice --end 3
      richpush user link alice 8f2c…      alice is who the provider of single sign-on calls 8f2c…
      richpush user unlink alice          and is not any more
      richpush user waiting               who has signed up and waits for approval
      richpush user approve guest-k7m     gives one of them the wanted subjects
      richpush user remove alice          the account: what others have counted stays, without name
      richpush user export alice > a.tar  everything that is stored about alice: JSON and media
      richpush user erase alice           alice, and everything that is stored about her

    The password is prompted for, or read from standard input: one line, at least 8 characters. A
    role is device (its own notifications), publisher (can notify others and manage assets) or
    admin. A user can register 64 devices, or as many as --max-devices names. A new password ends
    the user's sessions and the devices' tokens; with --end-registrations also the registrations, so
    that no device gets pushes until it registers again. A code to pair a device can be used once,
    within 15 minutes; it is printed as a link, and as eight characters to type. The link begins
    with --public-url, or that of the running server, or where that listens. link takes the provider
    of --oidc-issuer, or that of the running server. What a removed publisher has scheduled is held
    for an admin. erase asks first, but only on a terminal; it removes what alice alone was sent,
    her receipts, replies, attributes, drafts and her name, and can be repeated if it was
    interrupted. What she sent to others stays for them, without her name. Her number is printed:
    after restoring an older backup, erase --number removes her again, and also what is left of a
    user who was only removed. export writes a tar; with --objects it has content of the object
    store, too. When the command ends, a running server has applied the change. Root acts as the
    owner of the folder --data. add makes a new store if that folder is absent or empty.
    """
  static let options: [Option] = [
    .data, .database, .objects,
    .value("role", "ROLE", "device, publisher or admin", default: "device"),
    .value("number", "NUMBER", "erase: a user who has no name any more").withoutVariable,
    .flag("yes", "erase: do not ask").withoutVariable,
    .value("max-devices", "NUMBER", "add, quota: how many devices can be registered"),
    .value("end", "ID", "devices: end this registration; pairings: revoke this code"),
    .value("public-url", "URL", "pair: the server's address for phones"),
    .oidcIssuer,
    .flag("json", "devices, pair, pairings, waiting: print one JSON object per line"),
    .flag("end-registrations", "password: end the registrations of all devices, too"),
  ]
  static let operands = [
    "add|password|quota|list|devices|pair|pairings|link|unlink|waiting|approve|remove|export|erase",
    "[NAME]", "[SUBJECT]",
  ]

  static func run(_ arguments: Arguments) async throws {
    // Opened after the arguments are checked.
    let users = { creates in
      try DataFolderAdmin(
        data: arguments.dataFolder(), database: arguments.database(), creates: creates)
    }
    let content = {
      try DataFolderAdmin(
        data: arguments.dataFolder(), database: arguments.database(),
        objects: ObjectStoreSettings(
          arguments.string("objects"), environment: arguments.environment))
    }
    let maxDevices = try arguments.maxDevices()
    let report = Report(isJSON: arguments.flag("json"))
    if let other = arguments.operands.dropFirst(2).first, arguments.operands[0] != "link" {
      throw CommandLineError.usage("unexpected argument '\(other)' of richpush user")
    }
    switch (arguments.operands[0], arguments.subject) {
    case ("add", let name?):
      let role = try arguments.required("role")
      try CommandLineError.usage { try DataFolderAdmin.check(user: name, role: role) }
      try await users(true).addUser(
        name, password: Terminal.readNewPassword(), role: role, maxDevices: maxDevices)
      Terminal.print("added \(name)")
      try await arguments.notifyServer()
    case ("password", let name?):
      let users = try users(false)
      let endsRegistrations = arguments.flag("end-registrations")
      try await users.setPassword(
        of: name, to: Terminal.readNewPassword(), endingRegistrations: endsRegistrations)
      Terminal.print("changed the password of \(name)")
      let devices = try await users.devices(of: name).count
      if devices > 0 {
        Terminal.print(
          "devices still registered: \(devices); 'richpush user devices \(name)' lists them")
      }
      try await arguments.notifyServer()
    case ("quota", let name?):
      guard let maxDevices else { throw CommandLineError.usage("--max-devices is missing") }
      try await users(false).setMaxDevices(of: name, to: maxDevices)
      Terminal.print("\(name) can register \(maxDevices) devices")
    case ("list", nil):
      for user in try await users(false).users() {
        let identities = user.identities.map { "\($0.subject) at \($0.provider)" }
          .joined(separator: ", ")
        if identities.isEmpty {
          Terminal.print("\(user.name)\t\(user.role)\t\(user.number)")
        } else {
          Terminal.print("\(user.name)\t\(user.role)\t\(user.number)\t\(identities)")
        }
      }
    case ("devices", let name?):
      guard let registration = arguments.string("end") else {
        return report.list(
          DeviceList.Device.heads, try await users(false).devices(of: name))
      }
      try await users(false).endRegistration(registration, of: name)
      Terminal.print("ended \(registration) of \(name)")
      try await arguments.notifyServer()
    case ("pair", let name?): try await PairingReport(arguments, users(false)).pair(name)
    case ("pairings", let name?):
      guard let pairing = arguments.string("end") else {
        return report.list(
          PairingList.Pairing.heads, try await users(false).pairings(of: name))
      }
      try await users(false).endPairing(pairing, of: name)
      Terminal.print("revoked \(pairing) of \(name)")
    case ("link", let name?):
      guard let subject = arguments.operands.dropFirst(2).first else {
        throw CommandLineError.usage("usage: user link NAME SUBJECT")
      }
      let users = try users(false)
      let issuer = try await arguments.issuer()
      try await users.link(name, with: subject, at: issuer)
      Terminal.print("\(name) signs in at \(issuer)")
      try await arguments.notifyServer()
    case ("unlink", let name?):
      try await users(false).unlink(name)
      Terminal.print("\(name) is linked with nobody")
      try await arguments.notifyServer()
    case ("waiting", nil):
      report.list(SignUpPage.SignUp.heads, try await users(false).signUps())
    case ("approve", let name?):
      try await users(false).approve(name)
      Terminal.print("\(name) gets the wanted subjects")
      try await arguments.notifyServer()
    case ("remove", let name?):
      try await users(false).removeUser(name)
      Terminal.print("removed \(name)")
      try await arguments.notifyServer()
    case ("export", let name?): try await UserData.export(name, of: content())
    case ("erase", let name) where (name == nil) != (arguments.string("number") == nil):
      try await UserData.erase(name, arguments, in: content())
    default:
      throw CommandLineError.usage(
        "usage: user list, user waiting, user add NAME, user link NAME SUBJECT, user erase --number NUMBER, or user "
          + "password, quota, devices, pair, pairings, unlink, approve, remove, export or erase NAME"
      )
    }
  }
}

/// `richpush key`: manages the keys of signed links.
enum KeyCommand: Command {
  static let name = "key"
  static let summary =
    "lists, rotates and removes the keys that sign links to media, and those of TLS sessions"
  static let help = """
      richpush key list          lists the valid keys; the first one signs
      richpush key rotate        creates a new signing key; links signed by older keys stay valid
      richpush key rotate --tls  replaces the keys of TLS sessions: clients begin new ones
      richpush key remove 1      removes an older key and invalidates the links that it signed
      richpush key vapid         prints the public key of Web Push, which never changes

    When the command ends, a running server has applied the change. Root acts as the owner of the
    folder --data. The keys of TLS sessions are replaced every twelve hours anyway.
    """
  static let options: [Option] = [
    .data, .database,
    .flag("tls", "rotate: the keys of TLS sessions, instead of the one that signs links"),
  ]
  static let operands = ["list|rotate|remove|vapid", "[KEY]"]

  static func run(_ arguments: Arguments) async throws {
    // Opened after the arguments are checked.
    let keys = { try DataFolderAdmin(data: arguments.dataFolder(), database: arguments.database()) }
    let isTLS = arguments.flag("tls")
    if isTLS, arguments.operands[0] != "rotate" {
      throw CommandLineError.usage("--tls is for key rotate: key rotate --tls")
    }
    switch (arguments.operands[0], arguments.subject.map { Int($0) }) {
    case ("list", nil):
      for key in try await keys().linkKeys() {
        Terminal.print("\(key.id)\t\(key.created.formatted(.iso8601))")
      }
    case ("vapid", nil): Terminal.print("\(try await keys().vapidKey())")
    case ("rotate", nil) where isTLS:
      try await keys().removeTicketKeys()
      Terminal.print("TLS sessions that have begun are not resumed any more")
      try await arguments.notifyServer()
    case ("rotate", nil):
      Terminal.print("key \(try await keys().rotateLinkKey()) signs")
      try await arguments.notifyServer()
    case ("remove", let id??):
      try await keys().removeLinkKey(id)
      Terminal.print("removed key \(id)")
      try await arguments.notifyServer()
    default:
      throw CommandLineError.usage(
        "usage: key list, key rotate [--tls], key remove KEY or key vapid")
    }
  }
}

extension Arguments {
  /// The value of `--max-devices`.
  func maxDevices() throws(CommandLineError) -> Int? {
    try integer("max-devices", in: DataFolderAdmin.settableDevices)
  }

  /// The data folder, whose owner root takes on first, so that it leaves no file that the server cannot open.
  ///
  /// - Throws: what to pass if there is none.
  func dataFolder() throws -> String {
    guard let folder = string("data") else { throw StoreLocation.missing }
    try ServerUser.becomeOwner(of: folder)
    return folder
  }

  /// The provider at which people sign in: that of the flag, or else of the running server.
  fileprivate func issuer() async throws -> String {
    if let issuer = string(Option.oidcIssuer.name), !issuer.isEmpty { return issuer }
    let folder = try required("data")
    if let issuer = await ControlSocket.server(in: folder)?.issuer { return issuer }
    throw CommandLineError.usage(
      "no server with a provider is running on \(folder): start it, or pass --oidc-issuer URL")
  }

  /// The URL of the PostgreSQL database; nil for the SQLite database in the data folder.
  func database() throws(CommandLineError) -> String? { try databaseURL("database") }

  /// The URL of a PostgreSQL database that a flag has; nil without the flag.
  func databaseURL(_ flag: String) throws(CommandLineError) -> String? {
    guard let url = string(flag), !url.isEmpty else { return nil }
    guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
      throw .usage("--\(flag) must be a URL such as postgres://richpush@db.example/richpush")
    }
    if ConnectionURL.hasPassword(url) { warnOfSecret(in: flag) }
    return url
  }

  /// Returns once the server on the data folder has applied what this command changed; prints if none runs.
  func notifyServer() async throws(CommandLineError) {
    let folder = try required("data")
    switch await ControlSocket.reload(in: folder) {
    case .applied: break
    case .noServer:
      Terminal.printError("no server is running on \(folder); the change applies when one starts")
    case .failed(let reason):
      throw .failed(
        "the change is stored, but the running server has not applied it (\(reason)); "
          + "send it SIGHUP, or restart it")
    }
  }
}
