import Synchronization

/// The certificate that new connections are shown, which may change while the server runs.
final class SharedCredentials: Sendable {
  private let credentials: Mutex<TLSCredentials>

  init(_ credentials: TLSCredentials) { self.credentials = Mutex(credentials) }

  var current: TLSCredentials { credentials.withLock { $0 } }

  func replace(with credentials: TLSCredentials) { self.credentials.withLock { $0 = credentials } }
}
