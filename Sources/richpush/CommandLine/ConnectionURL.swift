/// The URL of a PostgreSQL database, as libpq understands it: `postgres://user:password@host/name?sslmode=…`.
enum ConnectionURL {
  /// Whether the URL has a password, as part of the authority or as a parameter.
  static func hasPassword(_ url: String) -> Bool { hidingPassword(url) != url }

  /// The URL without its password.
  static func hidingPassword(_ url: String) -> String {
    guard let start = url.firstRange(of: "://")?.upperBound else { return url }
    let end = url[start...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
    var shown = String(url[..<start])
    if let at = url[start..<end].lastIndex(of: "@"),
      let colon = url[start..<at].firstIndex(of: ":")
    {
      shown += url[start..<colon] + ":(secret)" + url[at...]
    } else {
      shown += url[start...]
    }
    guard let value = shown.firstRange(of: "password=")?.upperBound else { return shown }
    let rest = shown[value...].firstIndex(of: "&") ?? shown.endIndex
    return shown[..<value] + "(secret)" + shown[rest...]
  }
}
