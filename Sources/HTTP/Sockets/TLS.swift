import CGnuTLS
import Glibc
import Synchronization

/// A certificate of a server, followed by its issuers' certificates, and its private key without a password, both in PEM.
package struct TLSKeyPair: Sendable {
  package let certificate: String
  package let key: String

  package init(certificate: String, key: String) {
    (self.certificate, self.key) = (certificate, key)
  }
}

/// The keys of session tickets, with which clients resume (RFC 5077; RFC 8446, section 4.6.1).
///
/// They can be replaced at any time, also while connections are made.
package final class TLSTicketKeys: Sendable {
  /// The bytes of a key: its name (16), an AES-256 key (32) and an HMAC-SHA-256 key (32).
  package static let keySize = 80

  private let keys = Mutex<[[UInt8]]>([])

  /// No keys, with which no session is resumed.
  package init() {}

  /// Makes tickets with the first key from now on, and accepts those of all.
  package func replace(with keys: [[UInt8]]) { self.keys.withLock { $0 = keys } }
}

/// The certificates that a server has, each with its private key, and how it speaks TLS.
package final class TLSIdentity: @unchecked Sendable {  // GnuTLS only reads them once they are made
  fileprivate let credentials: gnutls_certificate_credentials_t
  fileprivate let priorities: gnutls_priority_t
  /// What clients look at, for each pair.
  package let certificates: [TLSCertificate]

  // TLS 1.0 and 1.1 must not be used (RFC 8996).
  private static let priorityString =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

  /// An identity to serve HTTPS with.
  ///
  /// - Parameters:
  ///   - pairs: Certificates for different kinds of keys, such as ECDSA and RSA, of which each client gets one that it accepts.
  ///   - tickets: The keys with which sessions are resumed.
  /// - Throws: `ServerError` if a pair cannot be read or does not belong together.
  package init(_ pairs: [TLSKeyPair], tickets: TLSTicketKeys) throws(ServerError) {
    var credentials: gnutls_certificate_credentials_t?
    var priorities: gnutls_priority_t?
    var result = gnutls_certificate_allocate_credentials(&credentials)
    for pair in pairs where result == GNUTLS_E_SUCCESS {
      if let credentials { result = Self.load(pair.certificate, pair.key, into: credentials) }
    }
    if result == GNUTLS_E_SUCCESS {
      result = gnutls_priority_init(&priorities, Self.priorityString, nil)
    }
    guard let credentials, let priorities, result == GNUTLS_E_SUCCESS else {
      if let credentials { gnutls_certificate_free_credentials(credentials) }
      let reason = gnutls_strerror(result).map { String(cString: $0) } ?? "error \(result)"
      throw ServerError(
        code: .badCertificate, reason: "The TLS certificate and key cannot be used: \(reason)")
    }
    (self.credentials, self.priorities) = (credentials, priorities)
    certificates = pairs.compactMap { TLSCertificate($0.certificate) }
  }

  deinit {
    gnutls_certificate_free_credentials(credentials)
    gnutls_priority_deinit(priorities)
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
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.init(data: UnsafeMutablePointer(mutating: bytes.baseAddress), size: UInt32(bytes.count))
  }
}

/// The identity for new connections, which can be replaced while the server runs.
final class CurrentTLSIdentity: Sendable {
  private let identity: Mutex<TLSIdentity>

  init(_ identity: TLSIdentity) { self.identity = Mutex(identity) }

  var value: TLSIdentity { identity.withLock { $0 } }

  func replace(with identity: TLSIdentity) { self.identity.withLock { $0 = identity } }
}

/// The server's side of TLS on one non-blocking socket (gnutls_session_t).
final class TLSSession {
  /// The most bytes of content in a record (RFC 8446, section 5.1).
  private static let recordSize = 1 << 14

  // Nil if GnuTLS ran out of memory; every operation then fails.
  private let session: gnutls_session_t?
  // GnuTLS keeps a pointer to the credentials: they must live as long as the session.
  private let identity: TLSIdentity
  private let descriptor: Int32
  /// Whether an encrypted record has been sent only in part.
  private var isUnflushed = false

  init(_ descriptor: Int32, _ identity: TLSIdentity) {
    var session: gnutls_session_t?
    let flags = GNUTLS_SERVER.rawValue | GNUTLS_NONBLOCK.rawValue | GNUTLS_NO_SIGNAL.rawValue
    gnutls_init(&session, UInt32(flags))
    (self.session, self.identity, self.descriptor) = (session, identity, descriptor)
    guard let session else { return }
    gnutls_priority_set(session, identity.priorities)
    gnutls_credentials_set(
      session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(identity.credentials))
    gnutls_transport_set_int2(session, descriptor, descriptor)
  }

  deinit { if let session { gnutls_deinit(session) } }

  func handshake() -> Transport.Progress {
    guard let session else { return .failed }
    while true {
      let result = gnutls_handshake(session)
      if result == GNUTLS_E_SUCCESS { return .done(0) }
      if result == GNUTLS_E_AGAIN { return .blocked }
      guard result == GNUTLS_E_INTERRUPTED || gnutls_error_is_fatal(result) == 0 else {
        return .failed
      }
    }
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transport.Progress {
    while true {
      errno = 0
      let result = progress { gnutls_record_recv(session, buffer.baseAddress, buffer.count) }
      // GnuTLS also returns AGAIN after a record without content, such as a key update. The socket
      // may then have more, and edge-triggered epoll would not report it again.
      guard case .blocked = result, errno != EAGAIN, socketHasMore else { return result }
    }
  }

  /// Whether the socket has bytes, or the end of the connection, that GnuTLS has not read.
  private var socketHasMore: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) >= 0 || errno != EAGAIN
  }

  /// Sends one record, the beginning of what is to be sent.
  ///
  /// If it blocks, the same bytes must be sent again: GnuTLS then sends the record it has. `fill` writes as much as
  /// fits into the buffer, and returns how much; nil makes the session fail.
  func send(_ fill: (UnsafeMutableRawBufferPointer) -> Int?) -> Transport.Progress {
    if isUnflushed { return noteFlush(progress { gnutls_record_send(session, nil, 0) }) }
    return withUnsafeTemporaryAllocation(byteCount: Self.recordSize, alignment: 16) { record in
      guard let count = fill(record) else { return .failed }
      return noteFlush(progress { gnutls_record_send(session, record.baseAddress, count) })
    }
  }

  /// Tells the peer that nothing more will be sent (close_notify).
  func finish() { if let session { gnutls_bye(session, GNUTLS_SHUT_WR) } }

  private func noteFlush(_ progress: Transport.Progress) -> Transport.Progress {
    isUnflushed = if case .blocked = progress { true } else { false }
    return progress
  }

  private func progress(_ call: () -> Int) -> Transport.Progress {
    while true {
      let count = call()
      if count >= 0 { return .done(count) }
      if count == Int(GNUTLS_E_AGAIN) { return .blocked }
      guard count == Int(GNUTLS_E_INTERRUPTED) else { return .failed }
    }
  }
}
