import Foundation

/// What `richpush user pair` prints, and what its QR code has: the server, and a code that is used once.
public struct PairingLink: Equatable, Sendable {
  /// The server's address.
  public let server: URL
  /// The code, of 22 or 8 characters.
  public let code: String

  /// Reads a link such as `https://push.example/app/#pair=…`; nil if it is none.
  ///
  /// Only a server on this machine may do without https.
  public init?(_ text: String) {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard var parts = URLComponents(string: text), parts.host?.isEmpty == false,
      parts.path.hasSuffix("/app/")
    else { return nil }
    let words = [parts.fragment, parts.query].compactMap { $0 }
    guard let code = words.lazy.compactMap(Self.code(in:)).first else { return nil }
    (parts.fragment, parts.query) = (nil, nil)
    parts.path.removeLast("/app/".count)
    self.init(server: parts.string ?? "", code: code)
  }

  /// Reads what somebody has typed: the server's address, without `https://` if they like, and the short code.
  public init?(server: String, code: String) {
    let address = server.contains("://") ? server : "https://" + server
    guard let url = URL(string: address), let host = url.host, !host.isEmpty,
      url.scheme == "https" || ["localhost", "127.0.0.1"].contains(host)
    else { return nil }
    let plain = code.filter { $0 != " " && $0 != "-" }
    // The long code has hyphens of its own.
    let code = plain.count == 8 ? plain.uppercased() : code
    guard [8, 22].contains(code.count), code.allSatisfy({ $0.isASCII && !$0.isWhitespace }) else {
      return nil
    }
    (self.server, self.code) = (url, code)
  }

  private static func code(in text: String) -> String? {
    text.split(separator: "&").first { $0.hasPrefix("pair=") }.map { String($0.dropFirst(5)) }
  }
}
