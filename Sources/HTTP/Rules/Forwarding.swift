/// Who really asks, when proxies stand in between.
struct Forwarding: Sendable {
  /// Where a request comes from.
  struct Client: Equatable {
    /// The client's address; the proxy's own when that has not named it.
    var peer: String
    /// Whether it came over TLS.
    var isSecure: Bool
    /// Whether a trusted proxy has named the address.
    var isNamed = false
  }

  /// The addresses of proxies whose X-Forwarded fields are believed.
  let trusted: Set<String>

  /// Who sent the request.
  ///
  /// Addresses are believed from the right as long as a trusted proxy has written them.
  func client(peer: String, isSecure: Bool, fields: Fields) -> Client {
    var client = Client(peer: peer, isSecure: isSecure)
    guard trusted.contains(peer) else { return client }
    for hop in (fields["X-Forwarded-For"] ?? "").split(separator: ",").reversed() {
      guard trusted.contains(client.peer) else { break }
      guard let address = Address.forwarded(hop) else {
        client.isNamed = false
        break
      }
      (client.peer, client.isNamed) = (address, true)
    }
    if let scheme = fields.values(of: "X-Forwarded-Proto").last {
      client.isSecure = scheme.lowercased() == "https"
    }
    return client
  }
}
