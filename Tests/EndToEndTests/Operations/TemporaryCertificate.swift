import Foundation
import Testing

/// A self-signed certificate for localhost, with its key, until the test ends.
final class TemporaryCertificate: Sendable {
  private let scratch: Scratch

  /// The PEM file of the certificate.
  var path: String { scratch.folder.path + "/certificate.pem" }
  /// The PEM file of its key.
  var key: String { scratch.folder.path + "/certificate.key" }
  /// What makes a server use it.
  var flags: [String] { ["--tls-certificate", path, "--tls-key", key] }

  private static let program = """
    import datetime, sys
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    folder, start, end, purpose, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
    now = datetime.datetime.utcnow()
    key = rsa.generate_private_key(65537, 2048) if kind == "rsa" else ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=start))
        .not_valid_after(now + datetime.timedelta(days=end, minutes=5))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
        .add_extension(x509.ExtendedKeyUsage(
            [getattr(x509.oid.ExtendedKeyUsageOID, purpose)]), False)
        # OpenSSL tells two of the same name apart by them.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), False)
        .sign(key, hashes.SHA256()))
    with open(folder + "/certificate.pem", "wb") as file:
        file.write(made.public_bytes(serialization.Encoding.PEM))
    with open(folder + "/certificate.key", "wb") as file:
        file.write(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    """

  /// Makes one that is valid from and to so many days from now, with a `key` of the kind `ec` or `rsa`.
  init(
    days: ClosedRange<Int>, purpose: String = "SERVER_AUTH", key kind: String = "ec"
  ) async throws {
    scratch = try Scratch()
    let made = try await Child.run(
      "/usr/bin/python3",
      ["-c", Self.program, scratch.folder.path, "\(days.lowerBound)", "\(days.upperBound)"]
        + [purpose, kind])
    try #require(made.exitCode == 0, "\(made.errors)")
    #expect(chmod(key, 0o600) == 0)
  }
}
