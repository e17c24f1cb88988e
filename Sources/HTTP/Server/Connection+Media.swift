import CMicroHTTPD

extension Connection {
  /// Queues what stands for the head.
  func send(_ prepared: Prepared, _ status: Int) -> MHD_Result {
    step = .answered
    return status == 304 ? queue(304, prepared.notModified) : queue(whole: prepared)
  }

  /// Queues a file: preconditions first, then the range, then the whole (RFC 9110, section 13.2).
  func send(_ content: Content, with response: Response) -> MHD_Result {
    guard let request, let prepared = worker.prepared[content] else {
      worker.log("http: \(content.path) is missing or not \(content.size) bytes long")
      return send(.problem(503, Self.missing, fields: ["Retry-After": "1"]))
    }
    guard response.status == 200 else {
      return queue(whole: content, prepared, with: response)
    }
    switch Conditions.evaluate(request, etag: content.etag, lastModified: content.lastModified) {
    case .proceed: break
    case .failed:
      return send(
        .problem(412, "The content is not what the preconditions ask for.", fields: response.fields)
      )
    case .notModified:
      guard !response.fields.isEmpty else {
        return queue(304, prepared.notModified)
      }
      let fields = content.validatorFields + response.fields
      return queue(304, RawResponse(prepared.mapping, 0..<content.size, fields: fields))
    }
    return send(ranges(request, of: content), of: content, prepared, with: response)
  }

  private func ranges(_ request: Request, of content: Content) -> ByteRanges {
    guard request.method == "GET", let range = request.fields["Range"],
      Conditions.allowsRange(request, etag: content.etag, lastModified: content.lastModified)
    else { return .whole }
    return ByteRanges(range, size: content.size)
  }

  private func send(
    _ ranges: ByteRanges, of content: Content, _ prepared: Prepared, with response: Response
  ) -> MHD_Result {
    switch ranges {
    case .whole:
      return queue(whole: content, prepared, with: response)
    case .unsatisfiable:
      var fields = response.fields
      fields["Content-Range"] = "bytes */\(content.size)"
      return send(
        .problem(416, "The content has only \(content.size) bytes.", fields: fields))
    case .parts(let parts) where parts.count == 1:
      var fields = content.representationFields + response.fields
      fields["Content-Type"] = content.mediaType
      fields["Content-Range"] = parts[0].contentRange(of: content.size)
      return queue(206, RawResponse(prepared.mapping, parts[0], fields: fields))
    case .parts(let parts):
      let multipart = Multipart(prepared.mapping, parts, mediaType: content.mediaType)
      var fields = content.representationFields + response.fields
      fields["Content-Type"] = "multipart/byteranges; boundary=\(multipart.boundary)"
      return queue(206, RawResponse(multipart, fields: fields))
    }
  }

  private func queue(
    whole content: Content, _ prepared: Prepared, with response: Response
  ) -> MHD_Result {
    guard response.status == 200, response.fields.isEmpty else {
      var fields = content.representationFields + response.fields
      fields["Content-Type"] = content.mediaType
      return queue(
        response.status, RawResponse(prepared.mapping, 0..<content.size, fields: fields))
    }
    return queue(whole: prepared)
  }

  private func queue(whole prepared: Prepared) -> MHD_Result {
    prepared.withWhole(streamed: worker.streams(prepared.content.size)) { queue(200, $0) }
  }

  private static let missing = "The content is not available just now."
}

extension Fields {
  /// The left fields, with the right ones in place of their namesakes.
  fileprivate static func + (left: Fields, right: Fields) -> Fields {
    right.items.reduce(into: left) { $0[$1.name] = $1.value }
  }
}
