import CGnuTLS
import Glibc

/// What clients look at in the certificates of a server: how long they are valid, for which host, and for what.
package struct TLSCertificate: Sendable {
  /// The time in which all certificates of the chain are valid, in seconds since 1970.
  package let validity: ClosedRange<Int>
  /// Whether the first certificate may be used by a server at all.
  package let isForServers: Bool
  private let chain: String

  /// More certificates than any chain has.
  private static let longestChain = 32

  /// Reads a chain in PEM, that of the server first; nil if it is none.
  package init?(_ chain: String) {
    let facts = Self.withCertificates(chain) { certificates in
      (
        start: certificates.map(gnutls_x509_crt_get_activation_time).max() ?? 0,
        end: certificates.map(gnutls_x509_crt_get_expiration_time).min() ?? 0,
        isForServers: gnutls_x509_crt_check_key_purpose(
          certificates[0], GNUTLS_KP_TLS_WWW_SERVER, 0) != 0
      )
    }
    guard let facts else { return nil }
    validity = facts.start...max(facts.start, facts.end)
    isForServers = facts.isForServers
    self.chain = chain
  }

  /// Whether the first certificate is for a host: a name or an address.
  package func isFor(_ host: String) -> Bool {
    Self.withCertificates(chain) { gnutls_x509_crt_check_hostname($0[0], host) != 0 } ?? false
  }

  /// Nil if there is no certificate; `body` gets at least one.
  private static func withCertificates<R>(
    _ chain: String, _ body: ([gnutls_x509_crt_t]) -> R
  ) -> R? {
    var text = chain
    var list = [gnutls_x509_crt_t?](repeating: nil, count: longestChain)
    var count = UInt32(longestChain)
    let result = text.withUTF8 { bytes in
      var datum = gnutls_datum_t(bytes)
      return gnutls_x509_crt_list_import(
        &list, &count, &datum, GNUTLS_X509_FMT_PEM,
        UInt32(GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED.rawValue))
    }
    guard result > 0 else { return nil }
    let certificates = list.prefix(Int(count)).compactMap(\.self)
    defer { for certificate in certificates { gnutls_x509_crt_deinit(certificate) } }
    return certificates.isEmpty ? nil : body(certificates)
  }
}
