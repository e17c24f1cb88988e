import CLinux
import Glibc

/// A pipe or socket between the host and a plugin: one end to keep, one to hand over.
struct Channel {
  /// Never blocks.
  let ours: Descriptor
  let theirs: Descriptor

  /// A pipe that the plugin writes and the host reads.
  static func pipe() -> Channel? {
    var ends: [Int32] = [-1, -1]
    guard clinux_pipe(&ends) == 0 else { return nil }
    return Channel(ours: ends[0], theirs: ends[1])
  }

  /// A pair of connected sockets for bytes.
  static func socketPair() -> Channel? { sockets(SOCK_STREAM) }

  /// A pair of connected sockets for packets, which stay whole and in order.
  static func packets() -> Channel? { sockets(SOCK_SEQPACKET) }

  private static func sockets(_ type: __socket_type) -> Channel? {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(type.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    return Channel(ours: ends[0], theirs: ends[1])
  }

  /// Standard input that holds `body`: a file in memory, so that nobody needs to feed it and a
  /// plugin that never reads blocks nobody.
  static func input(_ body: [UInt8]) -> Descriptor? {
    if body.isEmpty { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)) }
    guard let file = Descriptor(clinux_memory_file("body")), body.withUnsafeBytes(file.write),
      lseek(file.number, 0, SEEK_SET) == 0, clinux_seal(file.number) == 0
    else { return nil }
    return file
  }

  private init?(ours: Int32, theirs: Int32) {
    guard let ours = Descriptor(ours), let theirs = Descriptor(theirs) else { return nil }
    _ = fcntl(ours.number, F_SETFL, O_NONBLOCK)
    self.ours = ours
    self.theirs = theirs
  }
}
