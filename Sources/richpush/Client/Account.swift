import Foundation
import RichPushClient

/// The flags by which a command that talks to a server says which one, and as whom.
struct Account {
  let client: RichPushClient

  /// The flags; a user who is not named is `user`.
  static func options(user: String? = nil) -> [Option] {
    [
      .value("user", "NAME", "user to sign in as", default: user),
      .value(
        "password", "-",
        "reads the password from the terminal or a pipe; RICHPUSH_PASSWORD holds it for scripts; "
          + "default: the user name, which --demo accepts"),
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
    guard url.user() == nil, url.password() == nil else {
      throw .usage("--server holds no name and password; use --user and RICHPUSH_PASSWORD")
    }
    client = RichPushClient(
      endpoint: url, user: user, password: try Self.password(arguments) ?? user)
  }

  private static func password(_ arguments: Arguments) throws(CommandLineError) -> String? {
    let password = arguments.string("password")
    if arguments.isTyped("password"), password == "-" { return try Terminal.readPassword() }
    arguments.warnOfSecret(in: "password")
    return password
  }
}
