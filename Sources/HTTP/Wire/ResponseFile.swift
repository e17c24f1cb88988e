import CLinux
import Dispatch
import Glibc
import Primitives
import Synchronization

/// A content's most frequent response, head and body, in an unnamed file: the kernel sends it by one call.
///
/// Its Date makes it the response of one second. The file is written in each second in which enough are sent:
/// writing it costs as much as about thirty of them save.
final class ResponseFile: @unchecked Sendable {  // `written` publishes `file`, the rest is a loop's
  /// The sizes of bodies for which it is worthwhile: smaller ones are cheaper to copy, and a larger one costs much
  /// more than a call.
  static let sizes = 8 << 10...64 << 10
  private static let threshold = 32

  // A disk that is busy would hold up all connections of an event loop.
  static let writer = DispatchQueue(label: "http.responses")

  private var second = 0
  /// How often it was asked for in this second.
  private var count = 0
  /// From how often on it is written: at once if it was frequent in the second before.
  private var threshold = ResponseFile.threshold
  /// Counts the seconds in which it was asked for.
  private var number = 0
  /// The second whose response the writer was given last.
  private var given = 0
  /// The second for which it is done; negative if it could not write the response.
  private let written = Atomic(0)
  private var file: OutgoingFile?

  /// The file, if this response is frequent in this second, and is written; made in the folder of the content's file,
  /// which `body` opens.
  func file(
    at second: Int, _ head: UnsafeRawBufferPointer, _ end: [UInt8], _ content: Content,
    metrics: CacheMetrics, body: () -> OutgoingFile?
  ) -> OutgoingFile? {
    if second != self.second {
      let wasFrequent = count >= Self.threshold && second == self.second + 1
      threshold = wasFrequent ? 1 : Self.threshold
      (self.second, count, number) = (second, 0, number + 1)
    }
    count += 1
    let written = written.load(ordering: .acquiring)
    if written == number { return file }
    if count >= threshold, given < number, abs(written) == given, let body = body() {
      given = number
      Self.writer.async { [self, number, head = Array(head)] in
        if file == nil { file = Self.make(inFolderOf: content.path, metrics: metrics) }
        let isWritten =
          file.map { Self.write(head + end, body, content.size, to: $0.descriptor) } ?? false
        self.written.store(isWritten ? number : -number, ordering: .releasing)
      }
    }
    return nil
  }

  private static func make(inFolderOf path: String, metrics: CacheMetrics) -> OutgoingFile? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    return FileDescriptor(owning: clinux_unnamed_file(String(path[..<slash])))
      .flatMap { OutgoingFile($0, keptBy: metrics) }
  }

  /// Replaces what the file has; false if the body cannot be read, or there is no space.
  private static func write(
    _ head: [UInt8], _ body: OutgoingFile, _ size: Int, to file: FileDescriptor
  ) -> Bool {
    var bytes = head + [UInt8](repeating: 0, count: size)
    let isRead = bytes.withUnsafeMutableBytes {
      body.read(from: 0, into: UnsafeMutableRawBufferPointer(rebasing: $0[head.count...]))
    }
    guard isRead else { return false }
    // Pages that are still being sent must not change (sendfile(2)): these are left to the sockets that have them,
    // and the file gets others.
    guard ftruncate(file.number, 0) == 0 else { return false }
    return pwrite(file.number, bytes, bytes.count, 0) == bytes.count
  }
}
