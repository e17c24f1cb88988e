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
  private var file: SendfileDescriptor?

  /// The file, if this response is frequent in this second, and is written; made in the folder of the body's file.
  func file(
    at second: Int, _ head: UnsafeRawBufferPointer, _ end: [UInt8], _ body: FileMapping,
    path: String, metrics: CacheMetrics
  ) -> SendfileDescriptor? {
    if second != self.second {
      let wasFrequent = count >= Self.threshold && second == self.second + 1
      threshold = wasFrequent ? 1 : Self.threshold
      (self.second, count, number) = (second, 0, number + 1)
    }
    count += 1
    let written = written.load(ordering: .acquiring)
    if written == number { return file }
    if count >= threshold, given < number, abs(written) == given {
      given = number
      Self.writer.async { [self, number, head = Array(head)] in
        if file == nil { file = Self.make(inFolderOf: path, metrics: metrics) }
        let isWritten = file.map { Self.write(head + end, body, to: $0.descriptor) } ?? false
        self.written.store(isWritten ? number : -number, ordering: .releasing)
      }
    }
    return nil
  }

  private static func make(inFolderOf path: String, metrics: CacheMetrics) -> SendfileDescriptor? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    return FileDescriptor(owning: clinux_unnamed_file(String(path[..<slash])))
      .flatMap { SendfileDescriptor($0, metrics: metrics) }
  }

  /// Replaces what the file has; false if there is no space.
  private static func write(
    _ head: [UInt8], _ body: FileMapping, to file: FileDescriptor
  ) -> Bool {
    // Pages that are still being sent must not change (sendfile(2)): these are left to the sockets that have them,
    // and the file gets others.
    guard ftruncate(file.number, 0) == 0 else { return false }
    return head.withUnsafeBytes { head in
      var vectors = (iovec(head), iovec(body.bytes(0..<body.size)))
      return withUnsafeMutableBytes(of: &vectors) { vectors in
        pwritev(file.number, vectors.assumingMemoryBound(to: iovec.self).baseAddress, 2, 0)
          == head.count + body.size
      }
    }
  }
}
