import Primitives

/// What push services accept as the contact of the operator (`sub` of RFC 8292, section 2.1).
///
/// The standard wants a `mailto:` or `https:` URI and says no more. Apple's service also refuses those at which nobody on
/// the Internet could be reached.
enum PushContact {
  /// What is wrong with a contact that begins with `mailto:` or `https://`, as the end of a sentence; nil if nothing is.
  static func problem(of contact: String) -> String? {
    guard contact.hasPrefix("mailto:") else { return problem(ofPage: contact) }
    guard !contact.contains(where: { "<>[]()\"".contains($0) }) else {
      return "it is not a plain address: leave the brackets and quotation marks out"
    }
    // What follows are header fields (RFC 6068).
    let address = contact.dropFirst("mailto:".count).prefix { $0 != "?" }
    let parts = address.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return "it is no single mail address" }
    let user = parts[0]
    guard !user.isEmpty, user.first != ".", user.last != ".", !user.contains("..") else {
      return "it has no name before the @"
    }
    let host = parts[1].lowercased()
    if PublicInternet.isAddress(host: host) { return "\(host) is no name of a mail domain" }
    return problem(ofHost: host)
  }

  private static func problem(ofPage contact: String) -> String? {
    let authority = contact.dropFirst("https://".count).prefix { !"/?#".contains($0) }
    let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let host =
      place.hasPrefix("[")
      ? place.lowercased().prefix { $0 != "]" } + "]" : place.lowercased().prefix { $0 != ":" }
    if PublicInternet.isAddress(host: String(host)) || host.hasPrefix("[") {
      return PublicInternet.excludes(host: String(host))
        ? "\(host) is no address of the public Internet" : nil
    }
    return problem(ofHost: String(host))
  }

  /// Names that the Internet's DNS does not have (RFC 6761, 6762, 8375, and ICANN's reservation of `internal`), and those
  /// that private networks use.
  private static let privateDomains: Set<Substring> = [
    "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan",
    "test", "example", "invalid", "onion", "alt", "arpa",
  ]

  private static func problem(ofHost host: String) -> String? {
    guard !host.isEmpty else { return "it has no host" }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    let isName = labels.allSatisfy { label in
      !label.isEmpty && label.utf8.count <= 63 && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }
    }
    guard isName, host.utf8.count <= 253 else { return "\(host) is no name of a host" }
    guard let top = labels.last, labels.count > 1, !privateDomains.contains(top) else {
      return "\(host) is no name in the Internet"
    }
    return nil
  }
}
