import CMicroHTTPD
import Glibc

/// The heads of one thread that were answered a moment ago with a file.
///
/// The very same bytes from the same address get the same again, without being read and judged anew:
/// that they are well-formed, whose they are and what they name was found out the first time.
final class KnownHeads {
  /// A head, with what it was answered.
  final class Known {
    let request: Request
    /// What the place of the request is called.
    let route: String
    fileprivate let lease: any Lease
    fileprivate let bytes: [UInt8]
    fileprivate let hash: UInt64
    fileprivate let until: Int
    /// What is sent; nil as long as that has not been decided.
    fileprivate(set) var content: Content?
    fileprivate(set) var status = 0

    fileprivate init(
      _ request: Request, _ route: String, _ lease: any Lease, _ bytes: [UInt8], _ hash: UInt64,
      until: Int
    ) {
      (self.request, self.route, self.lease) = (request, route, lease)
      (self.bytes, self.hash, self.until) = (bytes, hash, until)
    }
  }

  private var table: [UInt64: Known] = [:]
  /// The head that was read last.
  private var head: [UInt8] = []
  private var hash: UInt64 = 0
  private let seed = UInt64.random(in: .min ... .max)
  /// As many are known; then all are forgotten, for none is worth more than a second.
  private static let capacity = 4096
  /// Longer heads are rare.
  private static let longest = 2048
  /// How long a head is known, in milliseconds.
  private let lifetime: Int

  init(lifetime: Duration) { self.lifetime = lifetime.milliseconds }

  /// Reads the head that a connection has received.
  func read(
    _ connection: Connection, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>
  ) {
    head.removeAll(keepingCapacity: true)
    append(UnsafeRawBufferPointer(start: method, count: strlen(method)))
    append(UnsafeRawBufferPointer(start: version, count: strlen(version)))
    var (target, peer) = (connection.target, connection.peer)
    target.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    peer.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    let this = Unmanaged.passUnretained(self).toOpaque()
    _ = MHD_get_connection_values_n(connection.handle, .HEADER_KIND, appendField, this)
    hash = digest()
  }

  /// What the head that was just read was answered, if that still stands.
  func find() -> Known? {
    guard let known = table[hash], known.bytes == head else { return nil }
    guard known.until > Ticks.now, known.lease.renew() else {
      table[hash] = nil
      return nil
    }
    return known
  }

  /// Notes the head that was just read; it is known once it has been answered.
  func note(_ request: Request, at route: String, _ lease: any Lease) -> Known? {
    guard head.count <= Self.longest else { return nil }
    return Known(request, route, lease, head, hash, until: Ticks.now + lifetime)
  }

  /// The head was answered with a file, whole or as 304.
  func keep(_ known: Known, _ content: Content, status: Int) {
    (known.content, known.status) = (content, status)
    if table.count >= Self.capacity { table.removeAll(keepingCapacity: true) }
    table[known.hash] = known
  }

  /// Adds a piece, behind its length so that no other pieces give the same bytes.
  fileprivate func append(_ piece: UnsafeRawBufferPointer) {
    head.append(UInt8(truncatingIfNeeded: piece.count))
    head.append(UInt8(truncatingIfNeeded: piece.count >> 8))
    head.append(contentsOf: piece)
  }

  /// Eight bytes at a time: SipHash would cost more than all the rest.
  private func digest() -> UInt64 {
    head.withUnsafeBytes { bytes in
      var sum = seed
      var place = 0
      while place + 8 <= bytes.count {
        sum = Self.mix(sum ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        place += 8
      }
      for byte in bytes[place...] { sum = Self.mix(sum ^ UInt64(byte)) }
      return sum
    }
  }

  private static func mix(_ word: UInt64) -> UInt64 {
    let (high, low) = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return high ^ low
  }
}

private let appendField: MHD_KeyValueIteratorN = { heads, _, name, nameSize, value, valueSize in
  guard let heads else { return .NO }
  let known = Unmanaged<KnownHeads>.fromOpaque(heads).takeUnretainedValue()
  known.append(UnsafeRawBufferPointer(start: name, count: nameSize))
  known.append(UnsafeRawBufferPointer(start: value, count: valueSize))
  return .YES
}
