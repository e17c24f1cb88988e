import Foundation
import Media

/// `richpush key`: what signs the addresses of media.
enum KeyCommand: Command {
  static let name = "key"
  static let summary = "rotates the keys that sign addresses of media"
  static let help = """
      richpush key list          every valid key; the first one signs
      richpush key rotate        makes the key that signs from now on; older addresses stay good
      richpush key remove 1      ends every address that an older key signed

    It works beside a running server, which notices within seconds, or at once by SIGHUP.
    """
  static let options: [Option] = [
    .value("data", "FOLDER", "where the store is kept", default: "var")
  ]
  static let operands = ["list|rotate|remove", "[KEY]"]

  static func run(_ arguments: Arguments) async throws {
    // Opened once the words are understood: opening makes the folder of a store that is not there.
    let keys = { try LinkKeyAdmin(data: arguments.required("data")) }
    do {
      switch (arguments.operands[0], arguments.operands.dropFirst().first.map { Int($0) }) {
      case ("list", nil):
        for key in try keys().list() {
          Terminal.say("\(key.id)\t\(key.created.formatted(.iso8601))")
        }
      case ("rotate", nil): Terminal.say("key \(try await keys().rotate()) signs")
      case ("remove", let id??):
        try await keys().remove(id)
        Terminal.say("removed key \(id)")
      default: throw CommandLineError.usage("it is key list, key rotate or key remove KEY")
      }
    } catch let error as LinkKeyError {
      throw CommandLineError.failed(error.reason)
    }
  }
}
