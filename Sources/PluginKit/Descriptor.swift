import Glibc

/// A borrowed file descriptor, read and written whole.
struct Descriptor {
  let number: Int32

  /// What the kernel said when it refused.
  struct Failure: Error {
    let code: Int32
  }

  /// Reads up to `limit` bytes, or to the end when that comes first.
  func read(atMost limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let piece = try readOnce(atMost: min(limit - bytes.count, 65_536))
      if piece.isEmpty { break }
      bytes += piece
    }
    return bytes
  }

  /// Reads what is there, at least one byte; empty at the end.
  func readOnce(atMost limit: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      let start = buffer.baseAddress
      count = try transferred { Glibc.read(number, start, limit) }
    }
  }

  /// Writes all of `bytes`.
  func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { buffer in
      var rest = UnsafeRawBufferPointer(buffer)
      while !rest.isEmpty {
        let count = try transferred { Glibc.write(number, rest.baseAddress, rest.count) }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
  }

  private func transferred(_ call: () -> Int) throws -> Int {
    while true {
      let count = call()
      if count >= 0 { return count }
      if errno != EINTR { throw Failure(code: errno) }
    }
  }
}
