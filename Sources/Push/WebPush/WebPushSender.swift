package import FoundationEssentials
import Primitives

/// What the lanes to all Web Push services share: the key, the contact, the connections.
package final class WebPushSender: Sendable {
  /// The most transfers to all services at once.
  private static let transfers = 2048
  /// The most to one service.
  static let transfersPerOrigin = 64
  /// For how long a token may be valid, in seconds (RFC 8292, section 2).
  static let longestTokenLife: TimeInterval = 24 * 3600

  let now: @Sendable () -> Date
  private let key: VAPIDKey
  private let settings: WebPushSettings
  private let client: CurlClient
  private let resolver: HostResolver
  private let permits: KeyedSemaphore<Int>

  /// A sender with a server's key.
  package convenience init(
    key: VAPIDKey, settings: WebPushSettings, trustAnchor: String? = nil,
    timeout: Duration = .seconds(20), now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) {
    try self.init(
      key: key, settings: settings, trustAnchor: trustAnchor, timeout: timeout, now: now,
      resolver: HostResolver())
  }

  /// A sender with a resolver, and with as many transfers for each user.
  init(
    key: VAPIDKey, settings: WebPushSettings, trustAnchor: String? = nil,
    timeout: Duration = .seconds(20), now: @escaping @Sendable () -> Date = { Date() },
    resolver: HostResolver, transfersPerUser: Int = UserQuota.webPushTransfers
  ) throws(PushError) {
    (self.key, self.settings, self.now) = (key, settings, now)
    self.resolver = resolver
    permits = KeyedSemaphore(width: transfersPerUser)
    client = try CurlClient(
      .init(
        trustAnchor: trustAnchor, connections: Self.transfersPerOrigin, isMultiplexing: true,
        timeout: timeout, transfers: Self.transfers))
  }

  /// Identifies the key and the contact.
  var settingsID: String { Signing.identifier(of: key.publicKey, settings.contact) }

  /// The provider of one push service.
  package func provider(for origin: String) -> WebPushProvider {
    WebPushProvider(origin: origin, sender: self)
  }

  /// The authorization for a push service, valid for at least half a day.
  func authorization(for origin: String) throws(PushError) -> (text: String, expires: Date) {
    let expires = now() + Self.longestTokenLife - 300
    let text = try key.authorization(for: origin, contact: settings.contact, expires: expires)
    return (text, expires)
  }

  /// The endpoint of a subscription.
  func endpoint(_ url: String) throws(PushError) -> WebPushEndpoint {
    try settings.endpoints.endpoint(url)
  }

  /// What a push of a user holds while it is sent; nil if the user has too many under way.
  func permit(for user: Int) -> KeyedSemaphore<Int>.Permit? { permits.tryPermit(user) }

  /// The addresses of an endpoint's host, for a push of this user; nil if they need not be looked up.
  func addresses(of endpoint: WebPushEndpoint, for user: Int?) async -> HostResolver.Answer? {
    guard !PublicInternet.isAddress(host: endpoint.host) else { return nil }
    return await resolver.addresses(of: endpoint.host, for: user)
  }

  /// Posts an encrypted message, over a connection that was made after a time if one is given; `addresses` are those of
  /// the endpoint's host, unless it is one.
  func post(
    _ message: [UInt8], to endpoint: WebPushEndpoint, at addresses: [String]?,
    fields: [(name: String, value: String)], connectionsSince time: ContinuousClock.Instant?
  ) async -> CurlTransfer.Response {
    var request = ServiceRequest(url: endpoint.url, fields: fields, body: message)
    request.isPublicOnly = !settings.endpoints.allows(endpoint)
    request.addresses = addresses.map { endpoint.resolution($0) }
    request.connectionsSince = time
    return await client.send(request)
  }
}

/// The operator's settings of Web Push.
package struct WebPushSettings: Sendable {
  /// Where a push service can reach the operator: `mailto:` or `https:` (RFC 8292, section 2.1).
  let contact: String
  /// Why Apple would refuse every push with this contact, in one sentence; nil if nothing is known against it.
  package let contactProblem: String?
  /// Which endpoints are permitted.
  package let endpoints: EndpointPolicy

  /// Checks the values of `--push-contact` and `--push-allow`.
  ///
  /// - Throws: a `PushError` that names the option.
  package init(
    contact: String?, allowed: [String] = [], isDemo: Bool = false
  ) throws(PushError) {
    guard let contact = contact ?? (isDemo ? "mailto:demo@example.com" : nil) else {
      throw PushError(
        .configuration,
        "--push webpush needs --push-contact, a mailto: or https: address at which push services "
          + "reach the operator; Apple and Mozilla require it.")
    }
    let scheme = ["mailto:", "https://"].first(where: contact.hasPrefix) ?? ""
    let rest = contact.dropFirst(scheme.count)
    guard !scheme.isEmpty, !rest.isEmpty, scheme != "mailto:" || rest.contains("@"),
      contact.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw PushError(
        .configuration,
        "--push-contact must be such as mailto:ops@example.com or https://example.com/contact, "
          + "not \(contact)")
    }
    self.contact = contact
    contactProblem = PushContact.problem(of: contact).map { problem in
      "--push-contact \(contact): Apple's push service refuses every push with it (403 BadJwtToken), since "
        + problem + "; use one at which the Internet reaches you, such as mailto:ops@example.com"
    }
    endpoints = try EndpointPolicy(allowed: allowed, allowsLoopback: isDemo)
  }
}
