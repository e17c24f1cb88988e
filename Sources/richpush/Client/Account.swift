import FoundationEssentials
import RichPushClient

/// The server that a command talks to, and the user it signs in as.
struct Account {
  let client: RichPushClient

  /// The flags that name them; `user` is the default user name.
  static func options(user: String? = nil) -> [Option] {
    [
      .value("user", "NAME", "user to sign in as", default: user),
      .value(
        "password", "-",
        "reads the password from the terminal or a pipe; RICHPUSH_PASSWORD sets it, or an access "
          + "token, for scripts; default: the user name, which --demo accepts"),
      server,
    ]
  }

  /// The flag that names the server.
  static let server = Option.value(
    "server", "URL", "the server's address", default: "http://127.0.0.1:8080")

  /// The server's address.
  static func endpoint(_ arguments: Arguments) throws(CommandLineError) -> URL {
    let address = try arguments.required("server")
    guard let url = URL(string: address), let scheme = url.scheme, url.host() != nil,
      ["http", "https"].contains(scheme.lowercased())
    else {
      throw .usage("--server must be an address such as http://127.0.0.1:8080, not '\(address)'")
    }
    guard url.user() == nil, url.password() == nil else {
      throw .usage("--server must not contain credentials; use --user and RICHPUSH_PASSWORD")
    }
    return url
  }

  init(_ arguments: Arguments) throws(CommandLineError) {
    let user = try arguments.required("user")
    let url = try Self.endpoint(arguments)
    var password = arguments.string("password")
    if arguments.isTyped("password"), password == "-" {
      password = try Terminal.readPassword()
    } else {
      arguments.warnOfSecret(in: "password")
    }
    // An access token says itself whose it is.
    let isToken = password?.hasPrefix("rpt_") == true && !arguments.isTyped("user")
    client = RichPushClient(endpoint: url, user: isToken ? "" : user, password: password ?? user)
  }
}
