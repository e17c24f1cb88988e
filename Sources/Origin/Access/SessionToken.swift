import FoundationEssentials
import HTTP
import Primitives
import Store

/// The secret of a session, which a browser sends as a cookie.
///
/// Only requests of the server's own pages may use it; see ``isFromOwnPage(_:)``.
struct SessionToken: Sendable {
  /// 43 characters of base64url.
  let text: String

  /// 256 bits of the system's randomness.
  init() { text = DeviceToken().text }

  /// The token in a request's cookie; nil if there is none, or more than one.
  ///
  /// A page of the same site, such as another port of this machine, may set a cookie of the same name.
  init?(in request: Request) {
    guard let name = Self.cookieName(for: request),
      let value = Self.value(ofCookie: name, in: request), value.utf8.count == 43
    else { return nil }
    text = value
  }

  /// What a request's cookie of a name has; nil if there is none, or more than one.
  static func value(ofCookie name: String, in request: Request) -> String? {
    guard let field = request.fields["Cookie"] else { return nil }
    let values = field.split { $0 == ";" || $0 == "," }.compactMap { pair -> Substring? in
      let pair = pair.drop { $0 == " " }
      return pair.hasPrefix(name + "=") ? pair.dropFirst(name.utf8.count + 1) : nil
    }
    return values.count == 1 ? String(values[0]) : nil
  }

  /// What the store keeps; a random token needs no slow hash.
  var hash: Digest { Digest(of: text) }

  /// Names it in the cache of logins; no `Authorization` field can hold a NUL.
  var loginKey: String { "\0session " + text }

  /// What the list of sessions shows of the browser that begins one.
  static func userAgent(of request: Request) -> String {
    String((request.fields["User-Agent"] ?? "").prefix(256))
  }

  /// The `Set-Cookie` field that keeps this token in the browser.
  func setCookie(_ name: String) -> String {
    Self.setCookie(name, text, maxAge: Int(Session.lifetime))
  }

  /// The `Set-Cookie` field that removes the cookie from the browser.
  static func removeCookie(_ name: String) -> String { setCookie(name, "", maxAge: 0) }

  /// A `Set-Cookie` field; `name` is, or begins with, that of ``cookieName(for:)``.
  static func setCookie(
    _ name: String, _ value: String, maxAge: Int, sameSite: String = "Strict"
  ) -> String {
    let secure = name.hasPrefix(secureName) ? " Secure;" : ""
    return "\(name)=\(value); Path=/;\(secure) HttpOnly; SameSite=\(sameSite); Max-Age=\(maxAge)"
  }

  private static let secureName = "__Host-richpush"

  /// The cookie's name; nil if the connection could be overheard, so that none may be sent.
  static func cookieName(for request: Request) -> String? {
    if request.isSecure { return secureName }
    return request.isPeerClient && IPAddress.isLoopback(request.peer) ? "richpush" : nil
  }

  /// Whether a page of this server has certainly sent the request (W3C Fetch Metadata; RFC 6454).
  static func isFromOwnPage(_ request: Request) -> Bool {
    if let site = request.fields["Sec-Fetch-Site"] { return site == "same-origin" }
    guard let origin = request.fields["Origin"], let host = request.fields["Host"] else {
      return false
    }
    return origin == (request.isSecure ? "https://" : "http://") + host
  }

  /// Whether no browser has sent the request for a page, or a page of this server has.
  static func isFromOwnPageOrProgram(_ request: Request) -> Bool {
    isFromOwnPage(request)
      || request.fields["Sec-Fetch-Site"] == nil && request.fields["Origin"] == nil
  }
}
