/// Where a request really comes from, if proxies forwarded it.
struct ForwardedClient {
  /// The client's address; the proxy's own if that named none.
  private(set) var peer: String
  /// Whether the client used TLS.
  private(set) var isSecure: Bool
  /// Whether a trusted proxy named the address.
  private(set) var isForwarded = false

  /// The client of a request that was received from `peer`.
  ///
  /// Each proxy appends the address that it was connected from to X-Forwarded-For. The list is
  /// therefore believed from the right, as long as a trusted proxy (a canonical address) wrote the
  /// entry.
  init(peer: String, isSecure: Bool, fields: Fields, trustedProxies: IPAddressSet) {
    (self.peer, self.isSecure) = (peer, isSecure)
    guard trustedProxies.contains(peer) else { return }
    // By bytes: the end of what a client sent must not hide the comma behind it, as a character of both.
    let entries = (fields["X-Forwarded-For"] ?? "").utf8.split(separator: UInt8(ascii: ","))
    for entry in entries.reversed() {
      guard trustedProxies.contains(self.peer) else { break }
      guard let address = IPAddress.forwarded(Substring(entry)) else {
        isForwarded = false
        break
      }
      (self.peer, isForwarded) = (address, true)
    }
    if let scheme = fields.values(of: "X-Forwarded-Proto").last {
      self.isSecure = scheme.lowercased() == "https"
    }
  }
}
