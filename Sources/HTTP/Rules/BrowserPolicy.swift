/// What browsers may send to a server whose passwords can be guessed.
///
/// Any page can make a browser send requests to this machine: by a host name of the page's own that
/// its owner points at 127.0.0.1 (DNS rebinding), or across origins (CSRF). Against the first, only
/// loopback names and those of the operator are accepted as host; against the second, requests for
/// pages of other origins are refused. Both are checked for every request, before its route.
struct BrowserPolicy: Sendable {
  private let hosts: Set<String>
  private let origins: Set<String>
  /// The value of Host that was accepted last, since most requests repeat it.
  private var accepted = Array("localhost".utf8)

  /// A policy for the hosts, with or without a port, beside loopback's; nil when every host will do.
  ///
  /// Pages of the origins, such as `https://app.example`, may send requests; `*` means all.
  init?(hosts: Set<String>?, origins: Set<String>) {
    guard let hosts else { return nil }
    self.hosts = Set(hosts.map(Self.name))
    self.origins = origins
  }

  /// - Throws: 421 for a foreign host, 403 for a page of another origin.
  func check(_ request: Request) throws(Refusal) {
    // An authority in the target takes precedence over Host (RFC 9112, section 3.2.2).
    let authorities = [request.fields["Host"] ?? "", Self.authority(of: request.target)]
    guard authorities.allSatisfy({ $0.map(isOwn) ?? true }) else {
      throw Refusal(
        421,
        "A server in demo mode is reached as localhost, 127.0.0.1 or [::1]; for another "
          + "name, start it with --public-url.")
    }
    guard mayAsk(request.fields) else {
      throw Refusal(
        403,
        "A server in demo mode takes nothing from pages of other origins, unless "
          + "--cors-origin names the origin.")
    }
  }

  /// Whether the head passes as it is; others need ``check(_:)``.
  mutating func admits(_ head: PlainHead) -> Bool {
    guard let host = head.host, head.target.first == UInt8(ascii: "/") else { return false }
    if let site = head.site, !Self.isHarmless(String(decoding: site, as: UTF8.self)) {
      return false
    }
    if host.elementsEqual(accepted) { return true }
    guard isOwn(String(decoding: host, as: UTF8.self)) else { return false }
    accepted = Array(host)
    return true
  }

  private func isOwn(_ authority: String) -> Bool {
    if let address = Address.forwarded(authority[...]), Address.isLoopback(address) { return true }
    let name = Self.name(authority)
    return name == "localhost" || hosts.contains(name)
  }

  private func mayAsk(_ fields: Fields) -> Bool {
    let origin = fields["Origin"]
    if origins.contains("*") || origin.map(origins.contains) == true { return true }
    if let site = fields["Sec-Fetch-Site"], !Self.isHarmless(site) { return false }
    guard let origin else { return true }
    let host = fields["Host"] ?? ""
    return ["http://" + host, "https://" + host].contains(origin)
  }

  /// Whether a value of Sec-Fetch-Site (Fetch Metadata Request Headers) says that the request was not
  /// sent for a page of another site.
  private static func isHarmless(_ site: String) -> Bool {
    ["same-origin", "same-site", "none"].contains(site)
  }

  /// The host without its port, in lower case.
  private static func name(_ authority: String) -> String {
    guard let colon = authority.lastIndex(of: ":"),
      authority[colon...].utf8.dropFirst().allSatisfy(\.isDigit)
    else { return authority.lowercased() }
    return authority[..<colon].lowercased()
  }

  /// The authority of a target in absolute form.
  private static func authority(of target: String) -> String? {
    guard target.first != "/", let scheme = target.firstRange(of: "://") else { return nil }
    return String(target[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" })
  }
}
