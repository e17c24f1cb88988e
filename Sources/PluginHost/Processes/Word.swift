import CLinux
import Glibc

/// What a supervisor may be told while its plugin runs (`Sources/richpush-exec/supervise.h`).
enum Word: UInt8 {
  case kill = 1
  case rest, work

  /// Tells it; one that is gone hears nothing.
  func say(to supervisor: Descriptor) {
    var byte = rawValue
    send(supervisor.number, &byte, 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
  }
}
