/// The URL of a PostgreSQL database, as libpq understands it: `postgres://user:password@host/name?sslmode=…`.
package enum ConnectionURL {
  /// Whether the URL has a password, as part of the authority or as a parameter.
  package static func hasPassword(_ url: String) -> Bool { hidingPassword(url) != url }

  /// The URL with another word in place of its password.
  package static func hidingPassword(_ url: String) -> String {
    replacePassword(in: url, authority: ":(secret)", parameter: "password=(secret)")
  }

  /// The URL without its password.
  package static func removingPassword(_ url: String) -> String {
    replacePassword(in: url, authority: "", parameter: "")
      .replacing("?&", with: "?")
      .replacing("&&", with: "&")
  }

  private static func replacePassword(
    in url: String, authority: String, parameter: String
  ) -> String {
    guard let start = url.firstRange(of: "://")?.upperBound else { return url }
    let end = url[start...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
    var shown = String(url[..<start])
    if let at = url[start..<end].lastIndex(of: "@"),
      let colon = url[start..<at].firstIndex(of: ":")
    {
      shown += url[start..<colon] + authority + url[at...]
    } else {
      shown += url[start...]
    }
    guard let name = shown.firstRange(of: "password=") else { return shown }
    let rest = shown[name.upperBound...].firstIndex(of: "&") ?? shown.endIndex
    return shown[..<name.lowerBound] + parameter + shown[rest...]
  }
}
