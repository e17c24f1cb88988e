import FoundationEssentials
import HTTP
import Primitives

/// Where phones find a server, as far as it knows.
package enum ServerAddress {
  /// The URL of a server that listens at a numeric address: one that listens at all of this machine's has one of them.
  static func url(isSecure: Bool, host: String, port: Int) -> String {
    let isAny = ["0.0.0.0", "::"].contains(host)
    let host = isAny ? IPAddress.ofThisMachine ?? "127.0.0.1" : host
    return "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// What people have to know who give the URL to a phone; nil if a phone can use it.
  package static func warning(of url: String) -> String? {
    let parts = URL(string: url)
    let host = parts?.host.map { $0.trimming { "[]".contains($0) } } ?? ""
    if host == "localhost" || IPAddress.isLoopback(host) {
      return
        "no phone can reach \(host), which is this machine for itself only: pass --public-url, or start the "
        + "server with it"
    }
    if parts?.scheme == "http" {
      return
        "browsers get pushes only over https; over http the phone sees what was sent, but hears of nothing new"
    }
    return nil
  }
}
