import CCodecs
import Glibc

/// The compressed bytes of a picture: a file that nobody changes meanwhile, or bytes in memory.
package final class SourceFile: Sendable {
  /// Bytes.
  package let size: Int
  private let descriptor: Int32
  private nonisolated(unsafe) let mapped: UnsafeRawPointer?  // read-only until deinit
  private let memory: [UInt8]

  /// Opens a file; its pages are read as they are needed.
  package init(path: String) throws(ImagingError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw ImagingError(.unreadable, "The picture \(path) cannot be opened: \(Self.errorText).")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw ImagingError(.unreadable, "\(path) is not a file.")
    }
    let size = Int(status.st_size)
    guard size > 0 else {
      close(descriptor)
      throw ImagingError(.damaged, "The file is empty.")
    }
    let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let address, address != MAP_FAILED else {
      let reason = Self.errorText
      close(descriptor)
      throw ImagingError(.unreadable, "The picture \(path) cannot be mapped: \(reason).")
    }
    self.size = size
    self.descriptor = descriptor
    mapped = UnsafeRawPointer(address)
    memory = []
  }

  /// A picture that is in memory already.
  package init(bytes: [UInt8]) {
    size = bytes.count
    descriptor = -1
    mapped = nil
    memory = bytes
  }

  deinit {
    if let mapped { munmap(UnsafeMutableRawPointer(mutating: mapped), size) }
    if descriptor >= 0 { close(descriptor) }
  }

  /// All bytes, for as long as the closure runs.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let mapped { return body(UnsafeRawBufferPointer(start: mapped, count: size)) }
    return memory.withUnsafeBytes(body)
  }

  /// The part of a range that exists.
  package func bytes(_ range: Range<Int>) -> [UInt8] {
    withBytes { bytes in Array(bytes[range.clamped(to: 0..<size)]) }
  }

  /// Runs `body` with what the codecs read from: memory, or the descriptor in small pieces.
  func withCodecSource<Result>(_ body: (codec_source) -> Result) -> Result {
    guard mapped == nil else { return body(codec_source(bytes: nil, size: size, fd: descriptor)) }
    return memory.withUnsafeBufferPointer { bytes in
      body(codec_source(bytes: bytes.baseAddress, size: bytes.count, fd: -1))
    }
  }

  private static var errorText: String { String(cString: strerror(errno)) }
}
