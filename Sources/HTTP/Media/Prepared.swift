import Glibc

/// A file as it goes out most often: whole, and as "not modified".
final class Prepared {
  /// What it was made of: equal to others, but compared with itself at once.
  let content: Content
  let mapping: Mapping
  let whole: RawResponse
  let notModified: RawResponse
  private let tag: [UInt8]
  private let gauge: PreparedGauge
  private var streamed: Streamed?

  /// Maps the file; nil when it is not there or not of the size that was promised.
  init?(_ content: Content, gauge: PreparedGauge) {
    guard let mapping = Mapping(path: content.path, size: content.size) else { return nil }
    (self.content, self.mapping, self.gauge) = (content, mapping, gauge)
    tag = Array(content.quotedTag.utf8)
    whole = RawResponse(mapping, 0..<content.size, fields: content.wholeFields)
    // The same body, which a 304 does not send, so that its Content-Length is that of the 200.
    notModified = RawResponse(mapping, 0..<content.size, fields: content.validatorFields)
  }

  /// Hands out the whole, to be sent from memory, or by sendfile(2) if that can be.
  func withWhole<R>(streamed wanted: Bool, _ body: (borrowing RawResponse) -> R) -> R {
    guard wanted else { return body(whole) }
    if streamed == nil { streamed = Streamed(content, gauge: gauge) }
    guard let streamed else { return body(whole) }
    return body(streamed.whole)
  }

  /// Whether If-None-Match has just the file's tag, as it has when it comes from a cache.
  func isTagged(_ validator: UnsafeRawBufferPointer) -> Bool {
    guard validator.count == tag.count, let bytes = validator.baseAddress else { return false }
    return memcmp(bytes, tag, tag.count) == 0
  }
}

/// A file that is held open.
private final class Streamed {
  let whole: RawResponse
  private let gauge: PreparedGauge

  /// Opens the file; nil when enough are open already, or it is gone.
  init?(_ content: Content, gauge: PreparedGauge) {
    guard gauge.openDescriptor() else { return nil }
    guard
      let whole = RawResponse(
        file: content.path, size: content.size, fields: content.wholeFields)
    else {
      gauge.closeDescriptor()
      return nil
    }
    self.whole = whole
    self.gauge = gauge
  }

  deinit { gauge.closeDescriptor() }
}

extension Content {
  /// The fields of the whole file as a 200.
  fileprivate var wholeFields: Fields {
    var fields = representationFields
    fields["Content-Type"] = mediaType
    return fields
  }
}
