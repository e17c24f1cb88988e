import PluginKit

/// A host as DNS knows it, and as a reader sees it.
struct HostName {
  /// In ASCII and lower case, such as `xn--bcher-kva.example` or `[2001:db8::1]`.
  let ascii: String
  /// With international labels decoded, such as `bücher.example`.
  let unicode: String

  init(ascii name: String) throws(Refusal) {
    var name = name.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    let isAddress = name.hasPrefix("[")
    guard isAddress || name.utf8.count <= 253 && labels.allSatisfy({ (1...63).contains($0.count) })
    else { throw Refusal("The link's host \(name.prefix(80)) is not a valid name.") }
    ascii = name
    unicode = labels.map { Self.decoded($0) }.joined(separator: ".")
  }

  /// Whether it is an IP address rather than a name.
  var isAddress: Bool {
    ascii.hasPrefix("[")
      || ascii.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (48...57).contains($0) }
  }

  /// What a person should know before this host is pushed to many people.
  var advice: [String] {
    if isAddress { return ["The host is an address; people cannot tell whose it is."] }
    var advice: [String] = []
    if !ascii.contains(".") || ascii.hasSuffix(".local") || ascii.hasSuffix(".internal") {
      advice.append("The host \(ascii) is known in one network only; phones may not find it.")
    }
    return advice + suspicions
  }

  /// Why parts of the name may be meant to be taken for something else.
  var suspicions: [String] { unicode.split(separator: ".").compactMap(Homograph.suspicion) }

  private static func decoded(_ label: Substring) -> String {
    guard label.hasPrefix("xn--") else { return String(label) }
    return Punycode.decode(label.dropFirst(4)) ?? String(label)
  }
}
