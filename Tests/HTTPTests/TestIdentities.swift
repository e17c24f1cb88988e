import HTTP
import StandIns

/// Two identities for the tests.
enum TestIdentities {
  static func one() throws -> TLSIdentity { try identity(TestCertificates.one) }

  static func two() throws -> TLSIdentity { try identity(TestCertificates.two) }

  private static func identity(_ pem: (certificate: String, key: String)) throws -> TLSIdentity {
    try TLSIdentity(
      [TLSKeyPair(certificate: pem.certificate, key: pem.key)], tickets: TLSTicketKeys())
  }
}
