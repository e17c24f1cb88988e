/// The URL of a PostgreSQL database, as libpq understands it: `postgres://user:password@host/name?sslmode=…`.
package enum ConnectionURL {
  /// Whether the URL has a password, as part of the authority or as a parameter.
  package static func hasPassword(_ url: String) -> Bool { hidingPassword(url) != url }

  /// The URL with another word in place of its password, and of the one of its key's file.
  package static func hidingPassword(_ url: String) -> String {
    replacePasswords(in: url, with: "(secret)")
  }

  /// The URL without its password, and the one of its key's file.
  package static func removingPassword(_ url: String) -> String {
    replacePasswords(in: url, with: nil)
  }

  private static func replacePasswords(in url: String, with word: String?) -> String {
    guard let start = url.firstRange(of: "://")?.upperBound else { return url }
    let end = url[start...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
    var shown = url[..<end]
    if let at = url[start..<end].lastIndex(of: "@"),
      let colon = url[start..<at].firstIndex(of: ":")
    {
      shown = url[..<colon] + (word.map { ":" + $0 } ?? "") + url[at..<end]
    }
    let query = url[end...].firstIndex(of: "?") ?? url.endIndex
    shown += url[end..<query]
    let parameters = url[query...].dropFirst().split(separator: "&").compactMap { parameter in
      let name = parameter.prefix { $0 != "=" }
      guard ["password", "sslpassword"].contains(name) else { return String(parameter) }
      return word.map { "\(name)=\($0)" }
    }
    return shown + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
  }
}
