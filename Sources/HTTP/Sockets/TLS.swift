import COpenSSL
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
package final class TLSTicketKeys: @unchecked Sendable {  // the C code has a lock
  /// The bytes of a key.
  package static let keySize = Int(CTLS_TICKET_KEY)

  // Nil without memory: no session is resumed then.
  fileprivate let keys = ctls_tickets_new()

  /// No keys, with which no session is resumed.
  package init() {}

  deinit { ctls_tickets_free(keys) }

  /// Makes tickets with the first key from now on, and accepts those of all.
  ///
  /// - Parameter keys: Random bytes, ``keySize`` each; others are ignored.
  package func replace(with keys: [[UInt8]]) {
    let whole = keys.filter { $0.count == Self.keySize }
    ctls_tickets_set(self.keys, Array(whole.joined()), whole.count)
  }
}

/// The certificates that a server has, each with its private key, and how it speaks TLS.
package final class TLSIdentity: @unchecked Sendable {  // OpenSSL only reads a complete context
  fileprivate let context: OpaquePointer
  private let tickets: TLSTicketKeys
  /// What clients look at, for each pair.
  package let certificates: [TLSCertificate]

  /// An identity to serve HTTPS with.
  ///
  /// - Parameters:
  ///   - pairs: Certificates for different kinds of keys, such as ECDSA and RSA, of which each client gets one that it accepts.
  ///   - tickets: The keys with which sessions are resumed.
  /// - Throws: `ServerError` if a pair cannot be read or does not belong together, or two are of one kind.
  package init(_ pairs: [TLSKeyPair], tickets: TLSTicketKeys) throws(ServerError) {
    guard tickets.keys != nil, let context = ctls_context_new(tickets.keys) else {
      throw .badCertificate("OpenSSL cannot be used")
    }
    // From here on its end frees the context.
    (self.context, self.tickets) = (context, tickets)
    certificates = pairs.compactMap { TLSCertificate($0.certificate) }
    for pair in pairs {
      if let reason = Self.add(pair, to: context) { throw .badCertificate(reason) }
    }
    guard Set(certificates.map(\.keyKind)).count == pairs.count else {
      throw .badCertificate(
        "two certificates have the same kind of key, of which clients would get only one: use one "
          + "with an ECDSA key and one with an RSA key")
    }
  }

  deinit { ctls_context_free(context) }

  /// Nil, or why the pair cannot be used.
  private static func add(_ pair: TLSKeyPair, to context: OpaquePointer) -> String? {
    let (chain, key) = (Array(pair.certificate.utf8), Array(pair.key.utf8))
    return chain.withUnsafeBytes { chain in
      key.withUnsafeBytes { key in
        ctls_context_add(context, chain.baseAddress, chain.count, key.baseAddress, key.count)
      }
    }.map { String(cString: $0) }
  }
}

extension ServerError {
  fileprivate static func badCertificate(_ reason: String) -> ServerError {
    ServerError(
      code: .badCertificate, reason: "The TLS certificate and key cannot be used: \(reason).")
  }
}

/// The identity for new connections, which can be replaced while the server runs.
final class CurrentTLSIdentity: Sendable {
  private let identity: Mutex<TLSIdentity>

  init(_ identity: TLSIdentity) { self.identity = Mutex(identity) }

  var value: TLSIdentity { identity.withLock { $0 } }

  func replace(with identity: TLSIdentity) { self.identity.withLock { $0 = identity } }
}

/// The server's side of TLS on one non-blocking socket.
final class TLSSession {
  /// The most bytes of content in a record (RFC 8446, section 5.1).
  static let recordSize = 1 << 14

  // OpenSSL keeps a pointer to the context: it must live as long as the session.
  private let identity: TLSIdentity
  private let descriptor: Int32
  /// Nil before the first byte has arrived: a connection that sends none costs little.
  private var session: OpaquePointer?
  /// The bytes of a record that has been sent only in part.
  private var unflushed = 0

  init(_ descriptor: Int32, _ identity: TLSIdentity) {
    (self.identity, self.descriptor) = (identity, descriptor)
  }

  deinit { ctls_session_free(session) }

  /// Whether a part of the handshake was done.
  var hasBegun: Bool { session != nil }

  /// Goes on with the handshake; done when it is over.
  func handshake() -> Transport.Progress {
    if session == nil { session = ctls_session_new(identity.context, descriptor) }
    return progress { Int(ctls_session_handshake($0)) }
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transport.Progress {
    progress { ctls_session_receive($0, buffer.baseAddress, buffer.count) }
  }

  /// Whether nothing that was sent waits to be received, unless its end came with it.
  var isEmpty: Bool { session.map { ctls_session_is_empty($0) } ?? false }

  /// Sends one record, the beginning of what is to be sent.
  ///
  /// If it blocks, the same bytes must be sent again: what is left of the record is sent then.
  ///
  /// - Parameters:
  ///   - hasMore: Whether another record follows, for which this one may wait.
  ///   - fill: Writes as much as fits into the buffer, and returns how much; nil makes the session fail.
  /// - Returns: How much was sent; blocked if the socket is full.
  func send(
    hasMore: Bool = false, _ fill: (UnsafeMutableRawBufferPointer) -> Int?
  ) -> Transport.Progress {
    if unflushed > 0 {
      let flushed = progress { Int(ctls_session_flush($0)) }
      guard case .done = flushed else { return flushed }
      defer { unflushed = 0 }
      return .done(unflushed)
    }
    return withUnsafeTemporaryAllocation(byteCount: Self.recordSize, alignment: 16) { record in
      guard let count = fill(record) else { return .failed }
      let sent = progress { ctls_session_send($0, record.baseAddress, count, hasMore) }
      if case .blocked = sent { unflushed = count }
      return sent
    }
  }

  /// Tells the peer that nothing more will be sent (close_notify).
  func finish() {
    if let session { ctls_session_finish(session) }
  }

  private func progress(_ call: (OpaquePointer) -> Int) -> Transport.Progress {
    guard let session else { return .failed }
    let result = call(session)
    if result >= 0 { return .done(result) }
    return result == Int(CTLS_BLOCKED) ? .blocked : .failed
  }
}
