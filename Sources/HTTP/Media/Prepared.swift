import Glibc

/// A file as it goes out most often: whole, and as "not modified".
final class Prepared {
  /// What it was made of: equal to others, but compared with itself at once.
  let content: Content
  let mapping: Mapping
  /// The heads of a 200 and a 304, but for their ends.
  let wholeHead: [UInt8]
  let notModifiedHead: [UInt8]
  private let tag: [UInt8]
  private let gauge: PreparedGauge
  private var file: OpenFile?

  /// Maps the file; nil when it is not there or not of the size that was promised.
  init?(_ content: Content, gauge: PreparedGauge) {
    guard let mapping = Mapping(path: content.path, size: content.size) else { return nil }
    (self.content, self.mapping, self.gauge) = (content, mapping, gauge)
    tag = Array(content.quotedTag.utf8)
    var fields = content.representationFields
    fields["Content-Type"] = content.mediaType
    wholeHead = ResponseHead.bytes(200, fields, .length(content.size))
    // A 304 has the Content-Length of the 200, though not its body.
    notModifiedHead = ResponseHead.bytes(304, content.validatorFields, .length(content.size))
  }

  /// A part of it, to be sent from memory, or by sendfile(2) if that can be.
  func part(_ range: Range<Int>, streamed wanted: Bool) -> Output.Piece {
    if wanted, file == nil { file = OpenFile(content.path, gauge: gauge) }
    guard wanted, let file else { return .mapped(mapping, range) }
    return .file(file, range)
  }

  /// Whether If-None-Match has just the file's tag, as it has when it comes from a cache.
  func isTagged(_ validator: UnsafeRawBufferPointer) -> Bool {
    guard validator.count == tag.count, let bytes = validator.baseAddress else { return false }
    return memcmp(bytes, tag, tag.count) == 0
  }
}
