extension Connection {
  /// Sends what stands for the head, at once as far as that goes.
  func send(_ prepared: Prepared, _ status: Int) {
    let isWhole = status == 200
    let size = isWhole ? prepared.content.size : 0
    let head = isWhole ? prepared.wholeHead : prepared.notModifiedHead
    let body = prepared.part(0..<size, streamed: worker.streams(size))
    let end = endOfHead()
    reply = (status, size)
    guard let sent = sendAtOnce(head, end, body) else { return close() }
    watch(handing: head.count + end.count + size)
    guard sent < moved else { return completed() }
    output = Output(head + end, [body], sent: sent)
    phase = .answering
  }

  /// Sends as much as is taken without waiting; nil when the connection has failed.
  private func sendAtOnce(_ head: [UInt8], _ end: [UInt8], _ body: Output.Piece) -> Int? {
    var mapped = UnsafeRawBufferPointer.empty
    if case .mapped(let mapping, let range) = body { mapped = mapping.bytes(range) }
    let isFile = if case .file = body { true } else { false }
    let first = head.withUnsafeBytes { head in
      end.withUnsafeBytes { channel.send(head, $0, mapped, isMoreToCome: isFile) }
    }
    guard let sent = first.count else { return nil }
    guard case .file(let file, let range) = body, sent == head.count + end.count else {
      return sent
    }
    return channel.send(file, range).count.map { sent + $0 }
  }

  /// Sends a file: preconditions first, then the range, then the whole (RFC 9110, section 13.2).
  func send(_ content: Content, with response: Response) {
    guard let request, let prepared = worker.prepared[content] else {
      worker.log("http: \(content.path) is missing or not \(content.size) bytes long")
      return send(.problem(503, Self.missing, fields: ["Retry-After": "1"]))
    }
    guard response.status == 200 else { return send(whole: content, prepared, with: response) }
    switch Conditions.evaluate(request, etag: content.etag, lastModified: content.lastModified) {
    case .proceed: break
    case .failed:
      return send(
        .problem(412, "The content is not what the preconditions ask for.", fields: response.fields)
      )
    case .notModified:
      // Its Content-Length is that of the 200, though its body is not sent.
      let fields = content.validatorFields + response.fields
      return send(304, fields, [], size: content.size)
    }
    send(ranges(request, of: content), of: content, prepared, with: response)
  }

  private func ranges(_ request: Request, of content: Content) -> ByteRanges {
    guard request.method == "GET", let range = request.fields["Range"],
      Conditions.allowsRange(request, etag: content.etag, lastModified: content.lastModified)
    else { return .whole }
    return ByteRanges(range, size: content.size)
  }

  private func send(
    _ ranges: ByteRanges, of content: Content, _ prepared: Prepared, with response: Response
  ) {
    switch ranges {
    case .whole: send(whole: content, prepared, with: response)
    case .unsatisfiable:
      var fields = response.fields
      fields["Content-Range"] = "bytes */\(content.size)"
      send(.problem(416, "The content has only \(content.size) bytes.", fields: fields))
    case .parts(let parts) where parts.count == 1:
      var fields = content.representationFields + response.fields
      fields["Content-Type"] = content.mediaType
      fields["Content-Range"] = parts[0].contentRange(of: content.size)
      send(206, fields, [.mapped(prepared.mapping, parts[0])], size: parts[0].count)
    case .parts(let parts):
      let multipart = Multipart(prepared.mapping, parts, mediaType: content.mediaType)
      var fields = content.representationFields + response.fields
      fields["Content-Type"] = "multipart/byteranges; boundary=\(multipart.boundary)"
      send(206, fields, multipart.pieces, size: multipart.size)
    }
  }

  private func send(whole content: Content, _ prepared: Prepared, with response: Response) {
    if response.status == 200, response.fields.isEmpty, request?.method == "GET" {
      return send(prepared, 200)
    }
    var fields = content.representationFields + response.fields
    fields["Content-Type"] = content.mediaType
    send(
      response.status, fields,
      [prepared.part(0..<content.size, streamed: worker.streams(content.size))],
      size: content.size)
  }

  private static let missing = "The content is not available just now."
}

extension Fields {
  /// The left fields, with the right ones in place of their namesakes.
  fileprivate static func + (left: Fields, right: Fields) -> Fields {
    right.items.reduce(into: left) { $0[$1.name] = $1.value }
  }
}
