/// What is sent of a content: first preconditions, then ranges (RFC 9110, section 13.2.2).
enum ContentResponse {
  /// The whole file, with its prepared head.
  case prepared
  /// A status and fields, and the body unless the request is a HEAD; `size` is its Content-Length.
  case parts(Int, Fields, [ResponseWriter.Piece], size: Int)
  /// Why nothing of it is sent.
  case problem(Response)
}

extension PreparedFile {
  /// How it answers a request, with the status and the fields of a response.
  func response(to request: Request, _ response: Response) -> ContentResponse {
    guard response.status == 200 else { return whole(request, response) }
    switch Preconditions.evaluate(request, etag: content.etag, lastModified: content.lastModified) {
    case .proceed: break
    case .failed:
      return .problem(
        .problem(
          412, "The content does not meet the preconditions (If-Match or similar).",
          fields: response.fields))
    case .notModified:
      // Its Content-Length is that of the 200, though its body is not sent.
      return .parts(304, content.validatorFields + response.fields, [], size: content.size)
    }
    var fields = response.fields
    switch ranges(request) {
    case .whole: return whole(request, response)
    case .unsatisfiable:
      fields["Content-Range"] = "bytes */\(content.size)"
      return .problem(
        .problem(416, "The content has only \(content.size) bytes.", fields: fields))
    case .parts(let parts) where parts.count == 1:
      fields = content.representationFields + fields
      fields["Content-Type"] = content.mediaType
      fields["Content-Range"] = parts[0].contentRange(of: content.size)
      return .parts(206, fields, [part(parts[0])], size: parts[0].count)
    case .parts(let parts):
      let multipart = MultipartByteRanges(self, parts)
      fields = content.representationFields + fields
      fields["Content-Type"] = "multipart/byteranges; boundary=\(multipart.boundary)"
      return .parts(206, fields, multipart.pieces, size: multipart.size)
    }
  }

  private func ranges(_ request: Request) -> ByteRanges {
    guard request.method == "GET", let range = request.fields["Range"],
      Preconditions.allowRange(request, etag: content.etag, lastModified: content.lastModified)
    else { return .whole }
    return ByteRanges(range, size: content.size)
  }

  private func whole(_ request: Request, _ response: Response) -> ContentResponse {
    if response.status == 200, response.fields.isEmpty, request.method == "GET" {
      return .prepared
    }
    var fields = content.representationFields + response.fields
    fields["Content-Type"] = content.mediaType
    return .parts(response.status, fields, [part(0..<content.size)], size: content.size)
  }
}

extension Fields {
  /// The left fields, with the right ones in place of those of the same name.
  fileprivate static func + (left: Fields, right: Fields) -> Fields {
    right.items.reduce(into: left) { $0[$1.name] = $1.value }
  }
}
