import Foundation
import RichPushClient

/// The flags by which a command that talks to a server says which one, and as whom.
struct Account {
  let client: RichPushClient

  /// The flags; a user who is not named is `user`.
  static func options(user: String? = nil) -> [Option] {
    [
      .value("user", "NAME", "who asks", default: user),
      .value("password", "WORD", "the password; without it the name itself, as --demo accepts"),
      .value("server", "URL", "the server to talk to", default: "http://127.0.0.1:8080"),
    ]
  }

  init(_ arguments: Arguments) throws(CommandLineError) {
    let user = try arguments.required("user")
    let address = try arguments.required("server")
    guard let url = URL(string: address), let scheme = url.scheme, url.host() != nil,
      ["http", "https"].contains(scheme.lowercased())
    else {
      throw .usage("--server is an address such as http://127.0.0.1:8080, not '\(address)'")
    }
    client = RichPushClient(
      endpoint: url, user: user, password: arguments.string("password") ?? user)
  }
}
