import CGnuTLS
import Glibc

/// What TLS connections are begun with: the certificate, its key, and what may be negotiated.
final class TLSCredentials: @unchecked Sendable {  // GnuTLS only reads them once they are made
  fileprivate let certificate: gnutls_certificate_credentials_t
  fileprivate let priorities: gnutls_priority_t

  init(_ identity: TLSIdentity) throws(ServerError) {
    certificate = try identity.credentials()
    var priorities: gnutls_priority_t?
    let wanted = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"
    guard gnutls_priority_init(&priorities, wanted, nil) == GNUTLS_E_SUCCESS, let priorities else {
      gnutls_certificate_free_credentials(certificate)
      throw ServerError(code: .cannotStart, reason: "TLS 1.2 and 1.3 are not to be had.")
    }
    self.priorities = priorities
  }

  deinit {
    gnutls_certificate_free_credentials(certificate)
    gnutls_priority_deinit(priorities)
  }
}

/// The server's side of TLS on one connection (gnutls_session_t), without ever waiting.
final class TLSSession {
  /// The most bytes that a record has.
  private static let record = 16_384

  /// Nil when memory has run out, and then nothing works.
  private let session: gnutls_session_t?
  private let credentials: TLSCredentials
  private let descriptor: Int32
  /// Whether a record was encrypted that the socket has not taken as a whole.
  private var isUnflushed = false

  init(_ descriptor: Int32, _ credentials: TLSCredentials) {
    var session: gnutls_session_t?
    let flags = GNUTLS_SERVER.rawValue | GNUTLS_NONBLOCK.rawValue | GNUTLS_NO_SIGNAL.rawValue
    gnutls_init(&session, UInt32(flags))
    (self.session, self.credentials, self.descriptor) = (session, credentials, descriptor)
    guard let session else { return }
    gnutls_priority_set(session, credentials.priorities)
    gnutls_credentials_set(
      session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials.certificate))
    gnutls_transport_set_int2(session, descriptor, descriptor)
  }

  deinit { if let session { gnutls_deinit(session) } }

  func shakeHands() -> Channel.Progress {
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

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Channel.Progress {
    while true {
      errno = 0
      let result = progress { gnutls_record_recv(session, buffer.baseAddress, buffer.count) }
      // It also says so after a message of TLS's own, such as a change of keys; the socket has not then.
      guard case .blocked = result, errno != EAGAIN, hasMore else { return result }
    }
  }

  /// Whether something has come, or the connection ended, that GnuTLS has not seen.
  private var hasMore: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) >= 0 || errno != EAGAIN
  }

  /// Sends a record of what the pieces begin with.
  func send(
    _ head: UnsafeRawBufferPointer, _ end: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer
  ) -> Channel.Progress {
    if isUnflushed { return flushed(progress { gnutls_record_send(session, nil, 0) }) }
    let first = head.count + end.count
    guard first > 0 else {
      return flushed(
        progress { gnutls_record_send(session, body.baseAddress, min(body.count, Self.record)) })
    }
    return withUnsafeTemporaryAllocation(byteCount: Self.record, alignment: 1) { record in
      var count = 0
      for piece in [head, end, body] {
        let part = UnsafeRawBufferPointer(rebasing: piece.prefix(Self.record - count))
        UnsafeMutableRawBufferPointer(rebasing: record[count...]).copyMemory(from: part)
        count += part.count
      }
      return flushed(progress { gnutls_record_send(session, record.baseAddress, count) })
    }
  }

  /// Says that nothing more will be sent.
  func finish() { if let session { gnutls_bye(session, GNUTLS_SHUT_WR) } }

  private func flushed(_ progress: Channel.Progress) -> Channel.Progress {
    if case .blocked = progress { isUnflushed = true } else { isUnflushed = false }
    return progress
  }

  private func progress(_ call: () -> Int) -> Channel.Progress {
    while true {
      let count = call()
      if count >= 0 { return .done(count) }
      if count == Int(GNUTLS_E_AGAIN) { return .blocked }
      guard count == Int(GNUTLS_E_INTERRUPTED) else { return .failed }
    }
  }
}
