/// How a server listens and what it allows; the defaults suit one machine on a hostile network.
package struct ServerConfiguration: Sendable {
  /// A numeric IPv4 or IPv6 address.
  package var host: String
  /// The TCP port; 0 picks a free one.
  package var port: UInt16
  /// Threads, each with an event loop and a listening socket of its own.
  package var threads: Int
  /// The certificate and key to serve HTTPS with; nil serves HTTP.
  package var tls: TLSIdentity?
  package var limits: Limits

  /// Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, and who may connect as often
  /// as all clients together: numeric addresses.
  package var trustedProxies: Set<String> = []

  /// Origins, such as `https://app.example`, whose pages may read answers (CORS); `*` means all.
  package var origins: Set<String> = []

  /// The hosts, beside loopback's names, as which the server may be addressed; nil accepts any.
  ///
  /// Where hosts are set, what browsers send for pages of other origins is refused as well, unless
  /// `origins` names the origin: for servers whose passwords can be guessed.
  package var hosts: Set<String>?

  /// Believes a proxy.
  ///
  /// - Returns: false when it is not a numeric address.
  package mutating func trust(_ address: String) -> Bool {
    guard let canonical = Address.canonical(address[...]) else { return false }
    trustedProxies.insert(canonical)
    return true
  }

  /// What one client may cost.
  package struct Limits: Sendable {
    /// Connections open at once, in total and for one address.
    package var connections = 20_000
    package var connectionsPerAddress = 10_000
    /// From the first byte of a connection or a request line to the end of the head.
    package var head: Duration = .seconds(10)
    /// How long a connection may wait for its next request.
    package var idle: Duration = .seconds(60)
    /// For a body to arrive and for a response to leave, on top of what `bytesPerSecond` allows.
    package var transfer: Duration = .seconds(30)
    /// The slowest transfer that is still a transfer.
    package var bytesPerSecond = 4096
    /// Bytes of server-sent events that may wait for a slow reader before its stream is closed.
    package var waitingEvents = 256 * 1024
    /// How often a quiet stream of events says that it is alive.
    package var heartbeat: Duration = .seconds(15)
    /// Bytes and files that may stay mapped on each thread as prepared responses.
    package var preparedBytes = 512 * 1024 * 1024
    package var preparedFiles = 8192

    package init() {}
  }

  /// A configuration; what is not named takes the defaults.
  package init(
    host: String = "127.0.0.1", port: UInt16 = 0, threads: Int = 2, tls: TLSIdentity? = nil,
    limits: Limits = Limits()
  ) {
    self.host = host
    self.port = port
    self.threads = max(1, threads)
    self.tls = tls
    self.limits = limits
  }
}
