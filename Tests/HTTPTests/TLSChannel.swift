import CGnuTLS

/// The client's side of TLS over a socket, which trusts every certificate.
final class TLSChannel {
  /// The result of receiving when nothing arrived in time.
  static let silence = Int(GNUTLS_E_AGAIN)
  /// The result of receiving that is to be repeated.
  static let interruption = Int(GNUTLS_E_INTERRUPTED)

  private var session: gnutls_session_t?
  private var credentials: gnutls_certificate_credentials_t?

  init(_ descriptor: Int32, priorities: String = "NORMAL") {
    gnutls_init(&session, UInt32(GNUTLS_CLIENT.rawValue))
    gnutls_certificate_allocate_credentials(&credentials)
    gnutls_priority_set_direct(session, priorities, nil)
    gnutls_credentials_set(
      session, GNUTLS_CRD_CERTIFICATE, credentials.map { UnsafeMutableRawPointer($0) })
    gnutls_transport_set_int2(session, descriptor, descriptor)
  }

  deinit {
    gnutls_deinit(session)
    gnutls_certificate_free_credentials(credentials)
  }

  /// Whether the two sides have agreed on keys.
  func handshake() -> Bool { gnutls_handshake(session) == GNUTLS_E_SUCCESS }

  /// The server certificate in DER.
  var certificate: [UInt8] {
    var count: UInt32 = 0
    guard let list = gnutls_certificate_get_peers(session, &count), count > 0 else { return [] }
    return Array(UnsafeBufferPointer(start: list[0].data, count: Int(list[0].size)))
  }

  /// Changes the keys that this side sends with (RFC 8446, section 4.6.3).
  func changeKeys() { gnutls_session_key_update(session, 0) }

  func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    gnutls_record_send(session, bytes.baseAddress, bytes.count)
  }

  func receive(into bytes: UnsafeMutableRawBufferPointer) -> Int {
    gnutls_record_recv(session, bytes.baseAddress, bytes.count)
  }
}
