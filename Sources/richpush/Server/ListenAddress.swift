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
    (self.host, self.port) = (String(host), port)
  }

  /// Whether only this machine can reach it.
  var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

  /// The address as it stands in a URL.
  func shown(port: Int) -> String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
