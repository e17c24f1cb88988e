import Foundation
import Origin

/// `richpush user`: who may come in.
enum UserCommand: Command {
  static let name = "user"
  static let summary = "adds, lists and removes users, and changes passwords"
  static let help = """
      richpush user add alice --role publisher
      richpush user password alice        the old one opens nothing more within seconds
      richpush user list
      richpush user remove alice

    The password is asked for, or read from standard input: one line, at least 8 characters. A role
    is device (its own notifications), publisher (can notify others and manage assets) or admin. It
    works beside a running server.
    """
  static let options: [Option] = [
    .value("data", "FOLDER", "where the store is kept", default: "var"),
    .value("role", "ROLE", "device, publisher or admin", default: "device"),
  ]
  static let operands = ["add|password|list|remove", "[NAME]"]

  static func run(_ arguments: Arguments) async throws {
    // Opened once the words are understood: opening makes the folder of a store that is not there.
    let users = { try UserAdmin(data: arguments.required("data")) }
    do {
      switch (arguments.operands[0], arguments.operands.dropFirst().first) {
      case ("add", let name?):
        let role = try arguments.required("role")
        do { try UserAdmin.check(name, role: role) } catch {
          throw CommandLineError.usage(error.reason)
        }
        try await users().add(name, password: Terminal.readNewPassword(), role: role)
        Terminal.say("added \(name)")
      case ("password", let name?):
        try await users().setPassword(of: name, to: Terminal.readNewPassword())
        Terminal.say("\(name) has another password")
      case ("list", nil):
        for user in try users().list() { Terminal.say("\(user.name)\t\(user.role)") }
      case ("remove", let name?):
        try await users().remove(name)
        Terminal.say("removed \(name)")
      default:
        throw CommandLineError.usage(
          "it is user add NAME, user password NAME, user list or user remove NAME")
      }
    } catch let error as UserError {
      throw CommandLineError.failed(error.reason)
    }
  }
}
