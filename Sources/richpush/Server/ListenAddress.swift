import Glibc

/// What `--listen` says.
struct ListenAddress {
  let host: String
  let port: UInt16

  /// Reads `HOST:PORT`, with an IPv6 address in brackets.
  init(_ text: String) throws(CommandLineError) {
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...])
    else { throw .usage("--listen is HOST:PORT, such as 127.0.0.1:8080, not '\(text)'") }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { throw .usage("--listen has no host: '\(text)'") }
    let address = host == "localhost" ? "127.0.0.1" : String(host)
    guard Self.isNumeric(address) else {
      throw .usage("--listen takes a numeric address or localhost, not '\(host)'")
    }
    (self.host, self.port) = (address, port)
  }

  private static func isNumeric(_ host: String) -> Bool {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &found) == 0 else { return false }
    freeaddrinfo(found)
    return true
  }

  /// Whether only this machine can reach it.
  var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

  /// The address as it stands in a URL.
  func shown(port: Int) -> String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
