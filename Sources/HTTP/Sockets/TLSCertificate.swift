import COpenSSL

/// What clients look at in the certificates of a server: how long they are valid, for which host, and for what.
package struct TLSCertificate: Sendable {
  /// A kind of key.
  ///
  /// A handshake with an ECDSA key costs the server about half of one with an RSA key.
  package enum KeyKind: Sendable {
    case ecdsa
    case rsa
    case other
  }

  /// The time in which all certificates of the chain are valid, in seconds since 1970.
  package let validity: ClosedRange<Int>
  /// Whether the first certificate may be used by a server at all.
  package let isForServers: Bool
  /// The kind of the first certificate's key.
  package let keyKind: KeyKind
  private let chain: [UInt8]

  /// Reads a chain in PEM, that of the server first; nil if it is none.
  package init?(_ chain: String) {
    self.chain = Array(chain.utf8)
    var facts = ctls_facts()
    guard self.chain.withUnsafeBytes({ ctls_chain_facts($0.baseAddress, $0.count, &facts) }) else {
      return nil
    }
    validity = Int(facts.start)...Int(max(facts.start, facts.end))
    isForServers = facts.is_for_servers
    keyKind =
      switch facts.key {
      case CTLS_KEY_ECDSA: .ecdsa
      case CTLS_KEY_RSA: .rsa
      default: .other
      }
  }

  /// Whether the first certificate is for a host: a name or an address.
  package func isFor(_ host: String) -> Bool {
    chain.withUnsafeBytes { ctls_chain_is_for($0.baseAddress, $0.count, host) }
  }
}
