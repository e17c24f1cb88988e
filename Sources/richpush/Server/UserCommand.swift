import Foundation
import Origin

/// `richpush user`: who may come in.
enum UserCommand: Command {
  static let name = "user"
  static let summary = "adds, lists and removes users"
  static let help = """
      richpush user add alice --role publisher
      richpush user list
      richpush user remove alice

    The password is read from standard input: one line. A role is device (its own notifications),
    publisher (creates for others, sees assets) or admin. It works beside a running server.
    """
  static let options: [Option] = [
    .value("data", "FOLDER", "where the store is kept", default: "var"),
    .value("role", "ROLE", "device, publisher or admin", default: "device"),
  ]
  static let operands = ["add|list|remove", "[NAME]"]

  static func run(_ arguments: Arguments) async throws {
    do {
      let users = try Users(data: arguments.required("data"))
      switch (arguments.operands[0], arguments.operands.dropFirst().first) {
      case ("add", let name?):
        try await users.add(
          name, password: Terminal.readPassword(), role: arguments.required("role"))
        Terminal.say("added \(name)")
      case ("list", nil):
        for user in try users.list() { Terminal.say("\(user.name)\t\(user.role)") }
      case ("remove", let name?):
        try await users.remove(name)
        Terminal.say("removed \(name)")
      default: throw CommandLineError.usage("it is user add NAME, user list or user remove NAME")
      }
    } catch let error as UsersError {
      throw CommandLineError.failed(error.reason)
    }
  }
}
