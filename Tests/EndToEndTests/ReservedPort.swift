import Glibc
import StandIns

/// A port of this machine that no other program is given while this exists, and on which nobody listens.
///
/// A program can listen on it if it sets SO_REUSEADDR, as servers do, also after one before it has ended.
final class ReservedPort: Sendable {
  let number: Int
  private let descriptor: Int32

  init() throws { (descriptor, number) = try LoopbackSocket.bound(isShared: true) }

  deinit { close(descriptor) }
}
