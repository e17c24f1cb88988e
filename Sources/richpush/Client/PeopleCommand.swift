import FoundationEssentials
import Glibc
import Primitives
import RichPushAPI
import RichPushClient

/// `richpush people`: the users of a server, from anywhere.
enum PeopleCommand: Command {
  static let name = "people"
  static let summary = "manages the users of a running server by its API"
  static let help = """
      richpush people list                        users with roles and the number of their devices
      richpush people add dora --role publisher   asks for dora's password
      richpush people role dora --role admin      changes the role
      richpush people password dora               changes the password; ends sessions, devices' tokens
      richpush people quota dora --max-devices 9  how many devices dora can register; 64 by default
      richpush people devices dora                the devices, without their push tokens
      richpush people devices dora --end phone-1  ends the registration of a device
      richpush people sign-out dora               ends dora's sessions and all tokens
      richpush people remove dora                 with all devices; never the last admin
      richpush people remove dora --erase         with everything that is stored about dora
      richpush people attributes dora             what is known of dora, for placeholders
      richpush people import FILE.csv             replaces what is known of the users in it
      richpush people import FILE.csv --dry-run   only says what that would change
      richpush people refused                     addresses and names that have to wait

    For admins; attributes and import also for publishers. The first line of the file to import
    names its columns, such as 'username,name,city': that of the user's name has to be 'username',
    all others are attributes. Semicolons may be in the place of commas, and - stands for standard
    input. All attributes of a user are replaced; an empty field is none. Nobody is added. Each line
    that is wrong is printed and left out, and the exit code is 65. After an interruption the
    same file can be imported again.

    'richpush user' does the same on the server's machine, without a password. The new
    password is prompted for, or read from standard input: one line, after that of --password -.
    With --end-registrations, password and sign-out also end the registrations of all devices,
    which get no pushes then until they register again.
    --json prints one JSON object per line.
    """
  static let options: [Option] =
    [
      .value("role", "ROLE", "add, role: device, publisher or admin"),
      .value("end", "REGISTRATION", "devices: end this registration"),
      .flag("end-registrations", "password, sign-out: end the devices' registrations, too"),
      .value("max-devices", "NUMBER", "add, quota: how many devices can be registered"),
      .flag("erase", "remove: also what dora alone was sent, receipts, replies and drafts")
        .withoutVariable,
      .flag("dry-run", "import: change nothing"),
      .flag("json", "print one JSON object per line, for programs"),
    ] + Account.options(user: "admin")
  static let operands = [
    "list|add|role|password|quota|devices|sign-out|remove|attributes|import|refused", "[NAME|FILE]",
  ]

  static func run(_ arguments: Arguments) async throws {
    let report = Report(isJSON: arguments.flag("json"))
    let role = try arguments.string("role", among: ["device", "publisher", "admin"])
    let endsRegistrations = arguments.flag("end-registrations")
    let maxDevices = try arguments.maxDevices()
    let client = { () throws(CommandLineError) in try Account(arguments).client }
    switch (arguments.operands[0], arguments.subject) {
    case ("list", nil):
      report.list(
        ["NAME", "ROLE", "DEVICES", "AT MOST", "LAST SEEN", "ADDED", "SIGNS IN AS"],
        try await users(client()))
    case ("add", let name?):
      let client = try client()
      let password = try Terminal.readNewPassword()
      // The request would change a user who is there: the role, and the password.
      guard try await !users(client).contains(where: { $0.username == name }) else {
        throw CommandLineError.failed(
          "there is a user \(name) already: people role and people password change one",
          exitCode: ExitCode.refused)
      }
      try await client.putUser(
        name, role: role ?? "device", password: password, maxDevices: maxDevices)
      report.note("added \(name)")
    case ("role", let name?):
      guard let role else { throw CommandLineError.usage("--role is missing") }
      try await client().putUser(name, role: role)
      report.note("\(name) has the role \(role)")
    case ("password", let name?):
      let client = try client()
      let password = try Terminal.readNewPassword()
      // Not before: somebody may change it while the password is typed.
      let role = try await self.role(of: name, client)
      try await client.putUser(
        name, role: role, password: password, endRegistrations: endsRegistrations)
      report.note("changed the password of \(name)")
    case ("quota", let name?):
      guard let maxDevices else { throw CommandLineError.usage("--max-devices is missing") }
      let client = try client()
      let role = try await self.role(of: name, client)
      try await client.putUser(name, role: role, maxDevices: maxDevices)
      report.note("\(name) can register \(maxDevices) devices")
    case ("devices", let name?):
      let client = try client()
      let devices = try await pages(.max) { size, next in
        let page = try await client.devices(of: name, after: next, limit: size)
        return (page.devices, page.next)
      }
      guard let end = arguments.string("end") else {
        return report.list(DeviceList.Device.heads, devices)
      }
      guard devices.contains(where: { $0.registration == end }) else {
        throw CommandLineError.failed(
          "\(name) has no registration \(end)", exitCode: ExitCode.notFound)
      }
      try await client.unregister(end)
      report.note("ended \(end) of \(name)")
    case ("sign-out", let name?):
      try await client().endCredentials(of: name, endRegistrations: endsRegistrations)
      report.note("\(name) is signed out")
    case ("remove", let name?):
      try await client().removeUser(name, erasing: arguments.flag("erase"))
      report.note("removed \(name)")
    case ("attributes", let name?):
      let attributes = try await client().attributes(of: name)
      let lines = attributes.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
      report.show(attributes, "\(lines.joined(separator: "\n"))")
    case ("import", let file?):
      let content = try content(ofFile: file)
      try await importAttributes(
        content, named: file == "-" ? "standard input" : file,
        dryRun: arguments.flag("dry-run"), client(), report)
    case ("refused", nil):
      report.list(
        ["ADDRESS", "NAME", "FAILURES", "UNTIL"], try await client().failedLogins().refused)
    default:
      throw CommandLineError.usage(
        "usage: people list, refused, import FILE, or add, role, password, quota, devices, sign-out, remove or "
          + "attributes NAME"
      )
    }
  }

  private static func content(ofFile path: String) throws(CommandLineError) -> [UInt8] {
    let most = ImportReport.largestFile
    let content: [UInt8]
    do {
      let file =
        path == "-"
        ? FileDescriptor(owning: dup(STDIN_FILENO)) : try FileDescriptor(path, O_RDONLY)
      content = try file?.readAll(limit: most + 1) ?? []
    } catch {
      throw .failed("\(path) cannot be read: \(error)", exitCode: ExitCode.notFound)
    }
    guard content.count <= most else {
      throw .failed(
        "\(path) has more than \(most) bytes: import it in parts", exitCode: ExitCode.refused)
    }
    return content
  }

  private static func importAttributes(
    _ file: [UInt8], named name: String, dryRun: Bool, _ client: RichPushClient, _ report: Report
  ) async throws {
    defer { Terminal.showProgress("") }
    Terminal.showProgress("importing \(name)")
    let result = try await client.importAttributes(csv: Data(file), dryRun: dryRun)
    Terminal.showProgress("")
    report.show(
      result,
      "\(dryRun ? "would be " : "")changed: \(result.changed), unchanged: \(result.unchanged), refused: \(result.refused)"
    )
    guard result.refused > 0 else { return }
    for line in result.lines {
      Terminal.printError("\(name), line \(line.line): \(line.reason ?? "")")
    }
    let more = result.more > 0 ? "; the first \(result.lines.count) of them are listed" : ""
    throw CommandLineError.failed(
      "lines of \(name) were not taken\(more)", exitCode: ExitCode.refused)
  }

  private static func role(of name: String, _ client: RichPushClient) async throws -> String {
    guard let user = try await users(client).first(where: { $0.username == name }) else {
      throw CommandLineError.failed("the server has no user \(name)", exitCode: ExitCode.notFound)
    }
    return user.role
  }

  private static func users(_ client: RichPushClient) async throws -> [UserPage.User] {
    try await pages(.max) { size, next in
      let page = try await client.users(after: next, limit: size)
      return (page.users, page.next)
    }
  }
}

extension UserPage.User: Reported {
  var cells: [String] {
    [
      username, role, "\(devices)", "\(maxDevices)", lastSeen.cell, Optional(created).cell,
      identities.isEmpty ? "-" : identities.map(\.subject).joined(separator: ", "),
    ]
  }
}

extension DeviceList.Device: Reported {
  static let heads = [
    "REGISTRATION", "NAME", "PLATFORM", "REGISTERED", "LAST CONTACT", "ENDED", "QUIET",
    "PROGRAM", "TAGS",
  ]

  var cells: [String] {
    [
      registration, name ?? "-", platform ?? "-", created.cell,
      Optional(lastContact ?? updated).cell, ended.cell,
      quietHours.map { "\($0.from)–\($0.until)" } ?? "-", userAgent ?? "-",
      tags.joined(separator: ", "),
    ]
  }
}

extension FailedLoginReport.Refusal: Reported {
  var cells: [String] {
    [address ?? "-", username ?? "-", "\(failures)", Optional(until).cell]
  }
}
