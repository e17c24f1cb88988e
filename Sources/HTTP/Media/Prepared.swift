/// A file as it goes out most often: whole, and as "not modified".
final class Prepared {
  /// What it was made of: equal to others, but compared with itself at once.
  let content: Content
  let mapping: Mapping
  let whole: RawResponse
  let notModified: RawResponse

  /// Maps the file; nil when it is not there or not of the size that was promised.
  init?(_ content: Content) {
    guard let mapping = Mapping(path: content.path, size: content.size) else { return nil }
    (self.content, self.mapping) = (content, mapping)
    var fields = content.representationFields
    fields["Content-Type"] = content.mediaType
    whole = RawResponse(mapping, 0..<content.size, fields: fields)
    // The same body, which a 304 does not send, so that its Content-Length is that of the 200.
    notModified = RawResponse(mapping, 0..<content.size, fields: content.validatorFields)
  }
}
