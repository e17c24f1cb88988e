/// Who really asks, when proxies stand in between.
struct Forwarding: Sendable {
  /// The addresses of proxies whose X-Forwarded fields are believed.
  let trusted: Set<String>

  /// The client's address and whether it came over TLS.
  ///
  /// Addresses are believed from the right as long as a trusted proxy has written them.
  func client(peer: String, isSecure: Bool, fields: Fields) -> (peer: String, isSecure: Bool) {
    guard trusted.contains(peer) else { return (peer, isSecure) }
    var client = peer
    for hop in (fields["X-Forwarded-For"] ?? "").split(separator: ",").reversed() {
      guard trusted.contains(client), let address = Address.forwarded(hop) else { break }
      client = address
    }
    guard let scheme = fields.values(of: "X-Forwarded-Proto").last else {
      return (client, isSecure)
    }
    return (client, scheme.lowercased() == "https")
  }
}
