import CCodecs
import Glibc
import MediaTypes
import Primitives

/// The compressed bytes of a picture: a file that does not change meanwhile, or bytes in memory.
package final class SourceFile: ByteSource {
  /// The number of bytes.
  package let size: Int
  private let descriptor: FileDescriptor?
  private nonisolated(unsafe) let mapped: UnsafeRawPointer?  // read-only until deinit
  private let memory: [UInt8]

  /// Opens a file; its pages are read as they are needed.
  package init(path: String) throws(ImagingError) {
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    } catch {
      throw ImagingError(.unreadable, "The picture \(path) cannot be opened: \(error).")
    }
    guard let status = try? descriptor.status(), status.st_mode & S_IFMT == S_IFREG else {
      throw ImagingError(.unreadable, "\(path) is not a file.")
    }
    size = Int(status.st_size)
    guard size > 0 else { throw ImagingError(.damaged, "The file is empty.") }
    let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor.number, 0)
    guard let address, address != MAP_FAILED else {
      throw ImagingError(
        .unreadable, "The picture \(path) cannot be mapped: \(Errno.current).")
    }
    self.descriptor = descriptor
    mapped = UnsafeRawPointer(address)
    memory = []
  }

  /// A picture in memory.
  package init(bytes: [UInt8]) {
    (size, descriptor, mapped, memory) = (bytes.count, nil, nil, bytes)
  }

  deinit {
    if let mapped { munmap(UnsafeMutableRawPointer(mutating: mapped), size) }
  }

  /// All bytes, for as long as the closure runs.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let mapped { return body(UnsafeRawBufferPointer(start: mapped, count: size)) }
    return memory.withUnsafeBytes(body)
  }

  /// Copies the bytes that exist in the range.
  package func read(at offset: Int, count: Int) -> [UInt8] {
    withBytes { Array($0[(offset..<offset + min(count, size)).clamped(to: 0..<size)]) }
  }

  /// Runs `body` with what the codecs read from: memory, or the descriptor in small pieces.
  func withCodecSource<Result>(_ body: (codec_source) -> Result) -> Result {
    if let descriptor {
      return body(codec_source(bytes: nil, size: size, fd: descriptor.number))
    }
    return memory.withUnsafeBufferPointer { bytes in
      body(codec_source(bytes: bytes.baseAddress, size: bytes.count, fd: -1))
    }
  }
}

/// The formats that are decoded.
package enum PictureKind: String, Sendable {
  case jpeg = "image/jpeg"
  case png = "image/png"
  case gif = "image/gif"
  case webp = "image/webp"
  case heic = "image/heic"
  case heif = "image/heif"
  case avif = "image/avif"

  /// Detects the format by the content.
  ///
  /// - Throws: `unsupported` when it is another one.
  package init(_ source: SourceFile) throws(ImagingError) {
    guard let kind = Self(rawValue: MediaType.sniff(source).value) else {
      throw ImagingError(.unsupported, "The file is no JPEG, PNG, GIF, WebP, HEIC or AVIF.")
    }
    self = kind
  }

  /// The media type of such files.
  package var mediaType: String { rawValue }

  /// What people call it.
  var name: String {
    self == .webp ? "WebP" : rawValue.dropFirst("image/".count).uppercased()
  }

  /// Whether such files are decoded by `img-decode`, and never sent as they are.
  var isForeign: Bool { ![.jpeg, .png, .gif].contains(self) }
}
