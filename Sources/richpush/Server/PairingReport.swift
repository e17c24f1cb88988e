import FoundationEssentials
import Origin
import RichPushAPI

/// Prints a code by which a phone is added: as a QR code, as a link, and as characters to type.
struct PairingReport {
  private let arguments: Arguments
  private let users: DataFolderAdmin

  /// A code in a data folder.
  init(_ arguments: Arguments, _ users: DataFolderAdmin) {
    (self.arguments, self.users) = (arguments, users)
  }

  /// Makes a code for a user, and prints it.
  func pair(_ name: String) async throws {
    let folder = try arguments.required("data")
    let running = await ControlSocket.server(in: folder)
    guard let address = try publicURL() ?? running?.address else {
      throw CommandLineError.failed(
        "no server is running on \(folder), so its address is not known: start it, or pass --public-url"
      )
    }
    let pairing = try await users.pair(name, at: address, addingGuest: running?.isDemo ?? false)
    guard !arguments.flag("json") else { return Terminal.print(TerminalText(json: pairing)) }
    show(pairing)
    if running == nil {
      Terminal.printError("no server is running on \(folder): start it before the code is used")
    }
    if let warning = ServerAddress.warning(of: address) { Terminal.printError("\(warning)") }
  }

  private func show(_ pairing: IssuedPairing) {
    let code = QRCode(texts: pairing.qrCode)
    if let width = Terminal.width, width >= code.width + 2 * QRCode.quietZone {
      Terminal.print(TerminalText(code))
    }
    Terminal.print("\(pairing.link)")
    let short = pairing.shortCode
    Terminal.print("To type: \(short.prefix(4))-\(short.suffix(4))")
    Terminal.print(
      "For one device of \(pairing.user), until \(pairing.expires.formatted(.iso8601)); "
        + "'richpush user pairings \(pairing.user) --end \(pairing.id)' revokes it")
  }

  private func publicURL() throws(CommandLineError) -> String? {
    guard let text = arguments.string("public-url"), !text.isEmpty else { return nil }
    return try CommandLineError.usage {
      var configuration = try OriginConfiguration()
      try configuration.usePublicURL(text)
      return configuration.publicURL
    }
  }
}

extension PairingList.Pairing: Reported {
  static let heads = ["ID", "USER", "MADE", "UNTIL"]

  var cells: [String] {
    ["\(id)", user, Optional(created).cell, Optional(expires).cell]
  }
}

extension SignUpPage.SignUp: Reported {
  static let heads = ["USER", "NAME", "SINCE", "SUBJECTS"]

  var cells: [String] {
    [user, name ?? "-", Optional(created).cell, subjects.joined(separator: ", ")]
  }
}
