import RichPushClient

/// `richpush health`: the health check of a container.
enum HealthCommand: Command {
  static let name = "health"
  static let summary = "checks that a server responds; the exit code is 69 if it does not"
  static let help = """
    Asks a server whether its process responds (GET /healthz), for the health check of a container
    or a monitor. Whether it has all it needs is another question: GET /readyz. What the server
    warns of, such as a certificate that expires soon, is printed to standard error.

    Example:
      richpush health --server https://push.example
    """

  static let options: [Option] = [Account.server]

  static func run(_ arguments: Arguments) async throws {
    let server = try Account.endpoint(arguments)
    let client = RichPushClient(endpoint: server, user: "", password: "")
    try await client.ping()
    // One that is not ready responds nevertheless.
    for warning in (try? await client.warnings()) ?? [] { Terminal.printError("\(warning)") }
  }
}
