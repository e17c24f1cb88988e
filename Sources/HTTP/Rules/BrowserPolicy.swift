/// What browsers may send to a server whose passwords can be guessed, as in demo mode.
///
/// Any page can make a browser send requests to this machine: through a host name that resolves to
/// 127.0.0.1 (DNS rebinding), or across origins (CSRF). Against the first, only loopback names and the
/// operator's are accepted as host; against the second, requests from pages of other origins are
/// rejected. Both are checked for every request, before its route.
struct BrowserPolicy: Sendable {
  private let hosts: Set<String>
  private let origins: Set<String>
  // The last accepted value of Host: most requests repeat it.
  private var acceptedHost = Array("localhost".utf8)

  /// A policy for these hosts, with or without a port, and loopback's; nil if every host is allowed.
  ///
  /// Pages of the origins, such as `https://app.example`, may send requests; `*` means all.
  init?(hosts: Set<String>?, origins: Set<String>) {
    guard let hosts else { return nil }
    self.hosts = Set(hosts.map(Self.hostName))
    self.origins = origins
  }

  /// - Throws: 421 for a foreign host, 403 for a page of another origin.
  mutating func check(_ request: Request) throws(HTTPError) {
    // An authority in the target takes precedence over Host (RFC 9112, section 3.2.2).
    let isForeign = Self.authority(of: request.target).map { !isOwnHost($0) } ?? false
    guard !isForeign, accepts(host: (request.fields["Host"] ?? "").utf8) else {
      throw HTTPError(
        421,
        "In demo mode the server accepts only localhost, 127.0.0.1 and [::1] as host; for another "
          + "name, set --public-url.")
    }
    guard acceptsOrigin(request.fields) else {
      throw HTTPError(
        403,
        "In demo mode requests of other origins are rejected; allow the origin with --cors-origin.")
    }
  }

  /// Whether a simple head is certainly allowed; others need ``check(_:)``.
  mutating func accepts(_ head: SimpleRequestHead) -> Bool {
    guard let host = head.host, head.target.first == UInt8(ascii: "/") else { return false }
    if let site = head.fetchSite, !Self.isSameSite(String(decoding: site, as: UTF8.self)) {
      return false
    }
    return host.isEqual(to: acceptedHost) || accepts(host: host)
  }

  private mutating func accepts(host: some Collection<UInt8>) -> Bool {
    if host.elementsEqual(acceptedHost) { return true }
    guard isOwnHost(String(decoding: host, as: UTF8.self)) else { return false }
    acceptedHost = Array(host)
    return true
  }

  private func isOwnHost(_ authority: String) -> Bool {
    if let address = IPAddress.forwarded(authority[...]), IPAddress.isLoopback(address) {
      return true
    }
    let name = Self.hostName(authority)
    return name == "localhost" || hosts.contains(name)
  }

  private func acceptsOrigin(_ fields: Fields) -> Bool {
    let origin = fields["Origin"]
    if origins.contains("*") || origin.map(origins.contains) == true { return true }
    if let site = fields["Sec-Fetch-Site"], !Self.isSameSite(site) { return false }
    guard let origin else { return true }
    let host = fields["Host"] ?? ""
    return ["http://" + host, "https://" + host].contains(origin)
  }

  /// Whether a value of Sec-Fetch-Site (W3C Fetch Metadata, section 2.3) says that no page of
  /// another site sent the request.
  private static func isSameSite(_ value: String) -> Bool {
    ["same-origin", "same-site", "none"].contains(value)
  }

  /// The host without its port, in lower case.
  private static func hostName(_ authority: String) -> String {
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

/// Which pages of other origins may read responses: CORS (WHATWG Fetch, section 3.3).
///
/// `Access-Control-Allow-Credentials` is never sent: cookies count only for the server's own pages, and a
/// page of another origin sets Authorization itself.
struct CORSPolicy: Sendable {
  private let origins: Set<String>

  /// Nil if there are no such origins; responses then do not mention CORS.
  init?(_ origins: Set<String>) {
    guard !origins.isEmpty else { return nil }
    self.origins = origins
  }

  /// The response to a preflight request; nil for any other request.
  func preflightResponse(to request: Request) -> Response? {
    guard request.method == "OPTIONS", allowedOrigin(of: request) != nil,
      request.fields["Access-Control-Request-Method"] != nil
    else { return nil }
    return .empty(
      204,
      fields: [
        "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers":
          "Authorization, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Range, Range, "
          + "Idempotency-Key, Last-Event-ID, Richpush-Device, X-Request-Id",
        "Access-Control-Max-Age": "600",
      ])
  }

  /// Adds the fields that let an allowed origin read the response.
  func addFields(to fields: inout Fields, for request: Request?) {
    if !origins.contains("*") {
      // Shared caches must not reuse the response for another origin (WHATWG Fetch, section 3.3.5).
      // A 412 or 416 has it already, from the response in whose place it is sent.
      let names = (fields["Vary"] ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
      if !names.contains("Origin") {
        fields["Vary"] = (names + ["Origin"]).joined(separator: ", ")
      }
    }
    guard let origin = request.flatMap(allowedOrigin) else { return }
    fields["Access-Control-Allow-Origin"] = origin
    fields.allowCrossOriginEmbedding()
    fields["Access-Control-Expose-Headers"] =
      "Accept-Ranges, Content-Range, ETag, Location, Retry-After, X-Request-Id"
  }

  private func allowedOrigin(of request: Request) -> String? {
    guard let origin = request.fields["Origin"] else { return nil }
    if origins.contains("*") { return "*" }
    return origins.contains(origin) ? origin : nil
  }
}
