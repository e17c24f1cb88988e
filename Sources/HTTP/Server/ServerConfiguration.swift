import Primitives

/// Where a server listens and what it allows; the defaults are for one machine on the internet.
package struct ServerConfiguration: Sendable {
  /// A numeric IPv4 or IPv6 address.
  package var host: String
  /// The TCP port; 0 picks a free one.
  package var port: UInt16
  /// Sockets that listen already, to be used instead of `host` and `port`; none opens them.
  package var listeningSockets: [Int32] = []
  /// Threads, each with an event loop and a listening socket of its own; see ``defaultThreads``.
  package var threads: Int
  /// The certificate and key to serve HTTPS with; nil serves HTTP.
  package var tls: TLSIdentity?
  package var limits: Limits
  /// The nanoseconds of a clock that only goes on, by which deadlines are measured.
  var time: @Sendable () -> Int = { MonotonicClock.nanoseconds }

  /// The addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, and
  /// to which the limit of connections per address does not apply.
  package private(set) var trustedProxies = IPAddressSet()

  /// Origins, such as `https://app.example`, whose pages may read responses (CORS); `*` means all.
  package var allowedOrigins: Set<String> = []

  /// The hosts, besides loopback's names, by which clients may address the server; nil allows any.
  ///
  /// If hosts are set, requests that browsers send for pages of other origins are rejected as well,
  /// unless `allowedOrigins` names the origin: for servers whose passwords can be guessed.
  package var allowedHosts: Set<String>?

  /// Adds a proxy, or a network such as `10.0.0.0/24` with all that are in it, to the trusted ones.
  ///
  /// - Returns: false if it is neither a numeric address nor a range of them.
  package mutating func trust(_ proxy: String) -> Bool { trustedProxies.insert(proxy) }

  /// The limits for clients.
  package struct Limits: Sendable {
    /// Open connections, in total and for one address.
    package var connections = 20_000
    package var connectionsPerAddress = 10_000
    /// The time from the first byte of a connection or a request line to the end of the head.
    package var head: Duration = .seconds(10)
    /// How long a connection may wait for its next request.
    package var idle: Duration = .seconds(60)
    /// In each period of this length at least `transferBytes` of a body must arrive, or of a response
    /// be acknowledged, unless it ends earlier; of an event stream with data to send, one byte.
    package var transfer: Duration = .seconds(30)
    package var transferBytes = 120 << 10
    /// Bytes of events that may be queued together for a slow client before its stream is closed.
    package var waitingEvents = 256 * 1024
    /// How long a stream of events may be quiet before a comment is sent.
    package var heartbeat: Duration = .seconds(15)
    /// Files whose responses may stay prepared on each thread, and the bytes of small ones in memory.
    package var preparedFiles = 8192
    package var preparedBytes = 32 * 1024 * 1024
    /// The responses that are remembered for each target and its credentials, on all threads together.
    package var cachedResponses = 500_000

    package init() {}
  }

  /// One for each processor that the process may use, but no more than there are descriptors for, of
  /// which each keeps about twenty.
  package static var defaultThreads: Int {
    max(1, min(Processors.count, DescriptorLimit.raise() / 128))
  }

  /// A configuration with defaults for what is not given.
  package init(
    host: String = "127.0.0.1", port: UInt16 = 0, threads: Int = defaultThreads,
    tls: TLSIdentity? = nil, limits: Limits = Limits()
  ) {
    (self.host, self.port, self.threads) = (host, port, max(1, threads))
    (self.tls, self.limits) = (tls, limits)
  }
}
