import Primitives

/// Which endpoints the operator permits: those of the public Internet, and the exceptions.
package struct EndpointPolicy: Sendable {
  /// Hosts and ports that may have addresses that are not public, such as `ntfy.internal:443`.
  private let allowed: Set<String>
  /// Whether this machine is permitted, and plain http to it: for demonstrations.
  private let allowsLoopback: Bool

  /// Permits no exceptions but, for demonstrations, this machine.
  package init(allowsLoopback: Bool) { (allowed, self.allowsLoopback) = ([], allowsLoopback) }

  /// Checks the values of `--push-allow`.
  ///
  /// - Throws: a `PushError` that names the option.
  init(allowed: [String], allowsLoopback: Bool) throws(PushError) {
    self.allowsLoopback = allowsLoopback
    self.allowed = Set(
      try allowed.map { entry throws(PushError) in
        guard !entry.contains("/"), !entry.contains("?"),
          let endpoint = try? WebPushEndpoint("https://\(entry)/")
        else {
          throw PushError(
            .configuration,
            "--push-allow must be a host with its port, such as ntfy.internal:443, not \(entry)")
        }
        return endpoint.hostAndPort
      })
  }

  /// Reads an endpoint that was registered; its addresses are checked when it is connected to.
  ///
  /// - Throws: a `PushError` with a sentence about what is wrong.
  func endpoint(_ url: String) throws(PushError) -> WebPushEndpoint {
    try WebPushEndpoint(url, allowsPlain: allowsLoopback)
  }

  /// Reads an endpoint that is to be registered.
  ///
  /// - Throws: a `PushError` with a sentence about what is wrong, also if no push could reach it because its host
  ///   is an address that is not public.
  package func newEndpoint(_ url: String) throws(PushError) -> WebPushEndpoint {
    let endpoint = try endpoint(url)
    guard allows(endpoint) || !PublicInternet.excludes(host: endpoint.host) else {
      throw PushError(
        .endpoint,
        "The endpoint's host \(endpoint.host) is not in the public Internet; "
          + "the server's --push-allow can permit it.")
    }
    return endpoint
  }

  /// Whether the endpoint may have an address that is not public.
  func allows(_ endpoint: WebPushEndpoint) -> Bool {
    allowsLoopback && endpoint.isLoopback || allowed.contains(endpoint.hostAndPort)
  }
}
