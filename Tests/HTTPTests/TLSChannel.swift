import Glibc
import GnuTLS

/// The client's side of TLS over a socket, which trusts every certificate.
final class TLSChannel {
  /// The result of receiving when nothing arrived in time.
  static let silence = Int(GNUTLS_E_AGAIN)
  /// The result of receiving that is to be repeated.
  static let interruption = Int(GNUTLS_E_INTERRUPTED)

  private var session: gnutls_session_t?
  private var credentials: gnutls_certificate_credentials_t?

  /// - Parameters:
  ///   - descriptor: A connected socket.
  ///   - priorities: GnuTLS's word for versions and suites.
  ///   - session: The session to resume, from ``ticket``.
  ///   - protocols: Those of ALPN to offer.
  init(
    _ descriptor: Int32, priorities: String = "NORMAL", resuming session: [UInt8] = [],
    protocols: [String] = []
  ) {
    gnutls_init(&self.session, UInt32(GNUTLS_CLIENT.rawValue))
    gnutls_certificate_allocate_credentials(&credentials)
    gnutls_priority_set_direct(self.session, priorities, nil)
    gnutls_credentials_set(
      self.session, GNUTLS_CRD_CERTIFICATE, credentials.map { UnsafeMutableRawPointer($0) })
    gnutls_transport_set_int2(self.session, descriptor, descriptor)
    if !session.isEmpty { gnutls_session_set_data(self.session, session, session.count) }
    for name in protocols {
      var bytes = Array(name.utf8)
      bytes.withUnsafeMutableBufferPointer {
        var datum = gnutls_datum_t(data: $0.baseAddress, size: UInt32($0.count))
        gnutls_alpn_set_protocols(self.session, &datum, 1, 0)
      }
    }
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

  /// What a later connection can resume; with TLS 1.3 the server has sent it once something was received.
  var ticket: [UInt8] {
    var data = gnutls_datum_t()
    guard gnutls_session_get_data2(session, &data) == GNUTLS_E_SUCCESS else { return [] }
    defer { free(data.data) }
    return Array(UnsafeBufferPointer(start: data.data, count: Int(data.size)))
  }

  /// Whether an earlier session was resumed.
  var isResumed: Bool { gnutls_session_is_resumed(session) != 0 }

  /// The protocol that the server chose (ALPN).
  var chosenProtocol: String? {
    var name = gnutls_datum_t()
    guard gnutls_alpn_get_selected_protocol(session, &name) == GNUTLS_E_SUCCESS else { return nil }
    return String(
      decoding: UnsafeBufferPointer(start: name.data, count: Int(name.size)), as: UTF8.self)
  }

  /// Changes the keys that this side sends with (RFC 8446, section 4.6.3); false if that cannot be sent.
  @discardableResult func changeKeys() -> Bool {
    gnutls_session_key_update(session, 0) == GNUTLS_E_SUCCESS
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    gnutls_record_send(session, bytes.baseAddress, bytes.count)
  }

  func receive(into bytes: UnsafeMutableRawBufferPointer) -> Int {
    while true {
      errno = 0
      let count = gnutls_record_recv(session, bytes.baseAddress, bytes.count)
      // It is also the result of a record without content, such as a ticket.
      guard count == Self.silence, errno != EAGAIN else { return count }
    }
  }
}
