import CGnuTLS

/// A certificate chain and its private key, in PEM.
package struct TLSIdentity: Sendable {
  package let certificate: String
  package let key: String

  /// An identity to serve HTTPS with, checked (gnutls_certificate_set_x509_key_mem).
  ///
  /// - Parameters:
  ///   - certificate: the server's certificate, followed by those that sign it.
  ///   - key: its private key, without a password.
  /// - Throws: `ServerError` when the two cannot be read or do not belong together.
  package init(certificate: String, key: String) throws(ServerError) {
    (self.certificate, self.key) = (certificate, key)
    gnutls_certificate_free_credentials(try credentials())
  }

  /// What GnuTLS makes of it, to be freed by the caller.
  func credentials() throws(ServerError) -> gnutls_certificate_credentials_t {
    var credentials: gnutls_certificate_credentials_t?
    var result = gnutls_certificate_allocate_credentials(&credentials)
    if let credentials {
      result = Self.load(certificate, key, into: credentials)
      if result == GNUTLS_E_SUCCESS { return credentials }
      gnutls_certificate_free_credentials(credentials)
    }
    let reason = gnutls_strerror(result).map { String(cString: $0) } ?? "error \(result)"
    throw ServerError(
      code: .badCertificate, reason: "The TLS certificate and key cannot be used: \(reason)")
  }

  private static func load(
    _ certificate: String, _ key: String, into credentials: gnutls_certificate_credentials_t
  ) -> Int32 {
    var (certificate, key) = (certificate, key)
    return certificate.withUTF8 { certificate in
      key.withUTF8 { key in
        var (chain, secret) = (gnutls_datum_t(certificate), gnutls_datum_t(key))
        return gnutls_certificate_set_x509_key_mem(
          credentials, &chain, &secret, GNUTLS_X509_FMT_PEM)
      }
    }
  }
}

extension gnutls_datum_t {
  fileprivate init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(data: UnsafeMutablePointer(mutating: bytes.baseAddress), size: UInt32(bytes.count))
  }
}
