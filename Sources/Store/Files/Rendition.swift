package import FoundationEssentials
import Glibc

/// A stored answer of a plugin: the file and what to say about it.
package struct Rendition: Sendable, Equatable {
  /// Where the bytes are; the file is never changed, and may be removed when nobody asks for it.
  package let path: String
  /// The value of `Content-Type`.
  package let contentType: String
  /// The size of the file in bytes.
  package let size: Int
  /// The SHA-256 of the file.
  package let digest: Digest
  /// Further fields of the answer, in order.
  package let fields: [Field]
  /// When the rendition was made, in whole seconds.
  package let created: Date

  /// A header field of an answer.
  package struct Field: Sendable, Equatable {
    /// The field's name.
    package let name: String
    /// The field's value, without line breaks.
    package let value: String

    /// Names a field and its value.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}

/// A rendition's head is kept beside its bytes, written like that of an HTTP answer.
extension Rendition {
  var head: String {
    let facts = [
      Field("Content-Type", contentType), Field("Content-Length", String(size)),
      Field("Digest", digest.hex), Field("Created", String(Int(created.timeIntervalSince1970))),
    ]
    // The empty line tells a whole head from one that a power cut left short.
    return (facts + fields).map { "\($0.name): \($0.value)\n" }.joined() + "\n"
  }

  /// Whether the head can be read back as it was.
  var isWritable: Bool {
    Rendition(path: path, head: head) == self
  }

  /// Whether the file is there with as many bytes as the head says.
  var hasBody: Bool {
    var status = stat()
    return stat(path, &status) == 0 && Int(status.st_size) == size
  }

  /// Whether the file holds the bytes that the head was written for.
  var isWhole: Bool {
    var digest = RunningDigest()
    guard let file = try? Descriptor(path, O_RDONLY | O_NOFOLLOW),
      (try? file.read { digest.add($0) }) != nil
    else { return false }
    return digest.finish() == self.digest
  }

  /// Reads a head back; nil when it is none, or not whole.
  init?(path: String, head: String) {
    guard head.hasSuffix("\n\n") else { return nil }
    let lines = head.split(separator: "\n").map { line in
      line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    guard lines.count >= 4, lines.allSatisfy({ $0.count == 2 }),
      let size = Int(lines[1][1]), let digest = Digest(hex: lines[2][1]),
      let created = Int(lines[3][1])
    else { return nil }
    self.init(
      path: path, contentType: lines[0][1], size: size, digest: digest,
      fields: lines[4...].map { Field($0[0], $0[1]) },
      created: Date(timeIntervalSince1970: Double(created)))
  }
}
