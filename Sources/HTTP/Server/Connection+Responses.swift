import Glibc
import Primitives

// Sending: from responses to bytes.
extension Connection {
  /// Begins to send a response.
  func send(_ response: Response) {
    if let cached = response.cached, let cacheKey {
      context.cachedResponses.insert(cached, for: cacheKey)
    }
    let response = completed(response)
    switch response.body {
    case .empty: send(response.status, response.fields, [], size: 0)
    case .bytes(let bytes): send(response.status, response.fields, bytes: bytes)
    case .problem(let code, let detail, let errors):
      let json = ProblemDetails.json(
        response.status, code: code, detail, errors: errors, requestID: requestID)
      send(response.status, response.fields, bytes: json)
    case .content(let content): send(content, with: response)
    case .events(let source): send(source, with: response)
    }
  }

  /// The response with the fields that depend on the request: X-Request-Id and CORS.
  func completed(_ response: Response) -> Response {
    var response = response
    if case .content = response.body {
      // Nearly all files are sent with a prepared head, which needs a response without fields.
      if let id = request?.clientRequestID { response.fields["X-Request-Id"] = id }
    } else {
      response.fields["X-Request-Id"] = requestID
    }
    context.cors?.addFields(to: &response.fields, for: request)
    return response
  }

  private var requestID: String { request?.id ?? Request.id(serial) }

  private func send(_ status: Int, _ fields: Fields, bytes: [UInt8]) {
    send(status, fields, [.bytes(bytes)], size: bytes.count)
  }

  /// Begins to send a head, and the body unless the request is a HEAD.
  private func send(_ status: Int, _ fields: Fields, _ body: [OutputQueue.Piece], size: Int) {
    let head = ResponseHead.bytes(status, fields, status == 204 ? .none : .length(size))
    begin(status, head, isHeadRequest ? [] : body)
  }

  private func begin(_ status: Int, _ head: [UInt8], _ body: [OutputQueue.Piece] = []) {
    let size = body.reduce(0) { $0 + $1.count }
    response = (status, size)
    let head = head + headEnd()
    output = OutputQueue(head, body)
    phase = .sending
    monitorTransfer(queued: head.count + size)
  }

  /// The end of a head that is sent now.
  private func headEnd() -> [UInt8] {
    if context.limiter.isDraining { persistence = .closed }
    return context.headEnd(persistence)
  }

  /// Sends more of the response; false if the socket is full.
  func sendOutput() -> Bool {
    switch output.send(over: transport) {
    case .blocked: return false
    case .failed: close()
    case .done: responseSent()
    }
    return true
  }

  /// Requests the body that the client waits to send (RFC 9110, section 10.1.1).
  func sendContinue() {
    let isSent = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8).withUnsafeBytes {
      transport.send($0).count == $0.count
    }
    // The socket is full only if the client has not read its previous responses: not worth a queue.
    if !isSent { close() }
  }

  // MARK: - Event streams

  private func send(_ source: any EventSource, with response: Response) {
    var fields = response.fields
    fields["Content-Type"] = "text/event-stream"
    fields["Cache-Control"] = "no-store"
    let isChunked = persistence == .keptOpen  // HTTP/1.0 has no chunks
    if !isChunked { persistence = .closed }
    begin(
      response.status, ResponseHead.bytes(response.status, fields, isChunked ? .chunked : .none))
    if isHeadRequest { return }
    let sink = EventSink(
      limit: context.limits.waitingEvents, heartbeat: context.timeouts.heartbeat,
      isChunked: isChunked
    ) { [handle = handle, queue = context.queue] in queue.post(.events(handle)) }
    phase = .streaming(sink)
    source.open(sink)
    if context.limiter.isDraining { sink.closeForShutdown() }
  }

  /// Sends what the stream has; false if it has nothing, or the socket is full.
  func sendEvents(from sink: EventSink) -> Bool {
    // A client that reads a stream sends nothing, so EOF means that it has disconnected.
    if hasPeerFinished {
      close()
      return true
    }
    switch output.send(over: transport) {
    case .blocked: return false
    case .failed: close()
    case .done:
      guard let piece = sink.next() else {
        enqueue(sink.isChunked ? ChunkedCoding.lastChunk : [])
        sink.finish()
        phase = .sending
        return true
      }
      guard !piece.isEmpty else { return false }
      enqueue(sink.isChunked ? ChunkedCoding.chunk(piece) : piece)
    }
    return true
  }

  private func enqueue(_ bytes: [UInt8]) {
    if monitor == nil { monitorTransfer() }
    output = OutputQueue(bytes)
    transferred += bytes.count
  }

  // MARK: - Files

  /// Sends a file with its prepared head (200 or 304), without an output queue if the socket takes it
  /// all.
  func send(_ file: PreparedFile, _ status: Int) {
    let isWhole = status == 200
    let size = isWhole ? file.content.size : 0
    let head = isWhole ? file.okHead : file.notModifiedHead
    var end = headEnd()
    if let id = request?.clientRequestID {
      end = Array("X-Request-Id: \(id)\r\n".utf8) + end
    }
    response = (status, size)
    let progress = trySending(
      head, end, isWhole ? file.bytes : nil, isWhole ? file.file : nil, size)
    guard let sent = progress else { return close() }
    monitorTransfer(queued: head.count + end.count + size)
    guard sent < transferred else { return responseSent() }
    let body = isWhole ? file.part(0..<size) : .bytes([])
    output = OutputQueue(Array(head) + end, [body], sent: sent)
    phase = .sending
  }

  /// Sends what the socket takes now of a head and of a body in memory or a file; nil if the connection failed.
  private func trySending(
    _ head: UnsafeRawBufferPointer, _ end: [UInt8], _ bytes: UnsafeRawBufferPointer?,
    _ file: OutgoingFile?, _ size: Int
  ) -> Int? {
    // Head and body share records, which the queue makes.
    if file != nil, transport.tls != nil { return 0 }
    let bytes = bytes ?? .empty
    let first = end.withUnsafeBytes { end in
      if let all = context.joined(head, end, bytes) {
        transport.send(all, hasMore: file != nil)
      } else {
        transport.send(head, end, bytes, hasMore: file != nil)
      }
    }
    guard let sent = first.count else { return nil }
    guard let file, sent == head.count + end.count else { return sent }
    return transport.send(file: file.descriptor.number, 0..<size).count.map { sent + $0 }
  }

  /// Sends a content: first preconditions, then ranges (RFC 9110, section 13.2.2).
  private func send(_ content: Content, with response: Response) {
    // Before the head is sent: afterwards nothing can tell the client that the file is missing.
    if let file = context.files[content], file.isWhole { return send(file, with: response) }
    prepare(content, .preparing(content, response))
  }

  /// Has another thread open the content's file.
  func prepare(_ content: Content, _ preparing: Phase) {
    phase = preparing
    setTimeout(context.timeouts.transfer)
    Task(executorPreference: BlockingExecutor.files) {
      [handle = handle, queue = context.queue, metrics = context.files.metrics] in
      queue.post(.prepared(handle, PreparedFile(content, metrics: metrics)))
    }
  }

  /// Continues with a response whose file was opened.
  func resume(_ handle: RequestHandle, with file: PreparedFile?) {
    guard case .preparing(let content, let response, let cached) = phase,
      handle.serial == serial
    else { return }
    if let file { context.files.insert(file) }
    if let cached { return sendAgain(cached, file) }
    guard let file, let response else { return sendUnavailable(content) }
    send(file, with: response)
  }

  func send(_ file: PreparedFile, with response: Response) {
    let content = file.content
    guard let request else { return close() }
    guard response.status == 200 else { return sendWhole(file, with: response) }
    switch Preconditions.evaluate(request, etag: content.etag, lastModified: content.lastModified) {
    case .proceed: break
    case .failed:
      return send(
        .problem(
          412, "The content does not meet the preconditions (If-Match or similar).",
          fields: response.fields)
      )
    case .notModified:
      // Its Content-Length is that of the 200, though its body is not sent.
      let fields = content.validatorFields + response.fields
      return send(304, fields, [], size: content.size)
    }
    send(ranges(request, of: content), of: file, with: response)
  }

  private func ranges(_ request: Request, of content: Content) -> ByteRanges {
    guard request.method == "GET", let range = request.fields["Range"],
      Preconditions.allowRange(request, etag: content.etag, lastModified: content.lastModified)
    else { return .whole }
    return ByteRanges(range, size: content.size)
  }

  private func send(_ ranges: ByteRanges, of file: PreparedFile, with response: Response) {
    let content = file.content
    switch ranges {
    case .whole: sendWhole(file, with: response)
    case .unsatisfiable:
      var fields = response.fields
      fields["Content-Range"] = "bytes */\(content.size)"
      send(.problem(416, "The content has only \(content.size) bytes.", fields: fields))
    case .parts(let parts) where parts.count == 1:
      var fields = content.representationFields + response.fields
      fields["Content-Type"] = content.mediaType
      fields["Content-Range"] = parts[0].contentRange(of: content.size)
      send(206, fields, [file.part(parts[0])], size: parts[0].count)
    case .parts(let parts):
      let multipart = MultipartByteRanges(file, parts)
      var fields = content.representationFields + response.fields
      fields["Content-Type"] = "multipart/byteranges; boundary=\(multipart.boundary)"
      send(206, fields, multipart.pieces, size: multipart.size)
    }
  }

  private func sendWhole(_ file: PreparedFile, with response: Response) {
    if response.status == 200, response.fields.isEmpty, request?.method == "GET" {
      return send(file, 200)
    }
    let content = file.content
    var fields = content.representationFields + response.fields
    fields["Content-Type"] = content.mediaType
    send(response.status, fields, [file.part(0..<content.size)], size: content.size)
  }

  /// Says why a content's file cannot be sent: to the log, and to the client that it cannot.
  private func sendUnavailable(_ content: Content) {
    Task(executorPreference: BlockingExecutor.files) {
      [log = context.log, limiter = context.limiter, path = content.path, size = content.size] in
      do throws(Errno) {
        _ = try FileDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        log(.error, "http", "http: \(path) is not \(size) bytes long or unreadable")
      } catch {
        if [EMFILE, ENFILE].contains(error.rawValue) {
          limiter.warnOfDescriptorShortage(error.rawValue, log)
        } else {
          log(.error, "http", "http: \(path) cannot be opened: \(error)")
        }
      }
    }
    send(
      .problem(
        503, "The content is temporarily unavailable.", fields: ["Retry-After": "1"]))
  }
}

extension Fields {
  /// The left fields, with the right ones in place of those of the same name.
  fileprivate static func + (left: Fields, right: Fields) -> Fields {
    right.items.reduce(into: left) { $0[$1.name] = $1.value }
  }
}
