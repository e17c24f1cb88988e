import HTTP
import StandIns

/// Identities for the tests.
enum TestIdentities {
  static func one(tickets: TLSTicketKeys = TLSTicketKeys()) throws -> TLSIdentity {
    try TLSIdentity([pair(TestCertificates.one)], tickets: tickets)
  }

  static func two() throws -> TLSIdentity {
    try TLSIdentity([pair(TestCertificates.two)], tickets: TLSTicketKeys())
  }

  /// With an ECDSA and an RSA key.
  static func both() throws -> TLSIdentity {
    try TLSIdentity(
      [pair(TestCertificates.rsa), pair(TestCertificates.one)], tickets: TLSTicketKeys())
  }

  static func pair(_ pem: (certificate: String, key: String)) -> TLSKeyPair {
    TLSKeyPair(certificate: pem.certificate, key: pem.key)
  }
}
