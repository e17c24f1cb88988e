import Glibc
import Primitives

// From responses to bytes.
extension Connection {
  /// Begins to send a response.
  func send(_ response: Response) {
    if let cached = response.cached, let key = exchange.cacheKey {
      context.cachedResponses.insert(cached, for: key)
    }
    let response = exchange.completed(response, context.cors)
    switch response.body {
    case .empty:
      // The Content-Length of a 304 would be that of the 200 (RFC 9110, section 8.6).
      let hasLength = ![204, 304].contains(response.status)
      begin(
        response.status,
        ResponseHead.bytes(response.status, response.fields, hasLength ? .length(0) : .none))
    case .bytes(let bytes): send(response.status, response.fields, bytes: bytes)
    case .problem(let code, let detail, let errors):
      let json = ProblemDetails.json(
        response.status, code: code, detail, errors: errors, requestID: exchange.requestID)
      send(response.status, response.fields, bytes: json)
    case .content(let content): send(content, with: response)
    case .events(let source): send(source, with: response)
    }
  }

  private func send(_ status: Int, _ fields: Fields, bytes: [UInt8]) {
    send(status, fields, [.bytes(bytes)], size: bytes.count)
  }

  /// Begins to send a head, and the body unless the request is a HEAD.
  private func send(
    _ status: Int, _ fields: Fields, _ body: [ResponseWriter.Piece], size: Int
  ) {
    let head = ResponseHead.bytes(status, fields, .length(size))
    begin(status, head, exchange.isHeadRequest ? [] : body)
  }

  private func begin(_ status: Int, _ head: [UInt8], _ body: [ResponseWriter.Piece] = []) {
    exchange.response = (status, body.reduce(0) { $0 + $1.count })
    monitorTransfer(from: writer.total)
    writer.queue(head + headEnd(), body)
    phase = .sending
  }

  /// The end of a head that is sent now.
  private func headEnd() -> [UInt8] {
    if context.limiter.isDraining { exchange.persistence = .closed }
    return context.headEnd(exchange.persistence)
  }

  /// Sends more of the response; false if the socket is full.
  func sendMore() -> Bool {
    switch writer.send(over: transport) {
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
    let (form, isWebSocket) = (source.form, response.status == 101)
    var fields = response.fields
    if !isWebSocket {
      fields["Content-Type"] = form.mediaType
      fields["Cache-Control"] = "no-store"
    }
    // HTTP/1.0 has no chunks.
    let isChunked = exchange.persistence == .keptOpen && !isWebSocket
    if !isChunked, !isWebSocket { exchange.persistence = .closed }
    begin(
      response.status, ResponseHead.bytes(response.status, fields, isChunked ? .chunked : .none))
    if exchange.isHeadRequest { return }
    // No other request follows.
    if isWebSocket { (exchange.persistence, frames) = (.closed, WebSocketReader()) }
    let sink = EventSink(
      limit: context.limits.waitingEvents, heartbeat: context.timeouts.heartbeat,
      isChunked: isChunked, form: form
    ) { [handle = handle, queue = context.queue] in queue.post(.events(handle)) }
    phase = .streaming(sink)
    source.open(sink)
    if context.limiter.isDraining { sink.closeForShutdown() }
  }

  /// Sends what the stream has; false if it has nothing, or the socket is full.
  func sendEvents(from sink: EventSink) -> Bool {
    // A client that reads a stream sends nothing, so EOF means that it has disconnected.
    if reader.hasPeerFinished {
      close()
      return true
    }
    switch writer.send(over: transport) {
    case .blocked: return false
    case .failed: close()
    case .done:
      guard let piece = sink.next() else {
        if sink.hasFailed {
          close()
          return true
        }
        queue(sink.isChunked ? ChunkedCoding.lastChunk : [])
        sink.finish()
        phase = .sending
        return true
      }
      guard !piece.isEmpty else { return false }
      queue(sink.isChunked ? ChunkedCoding.chunk(piece) : piece)
    }
    return true
  }

  /// Answers what the client of a WebSocket sends; false if it has sent nothing, or is none.
  func receiveFrames(for sink: EventSink) -> Bool {
    guard let frames else { return false }
    switch reader.receive(over: transport, into: context.buffer, atMost: context.buffer.count) {
    case .blocked: return false
    case .failed, .done(0): close()
    case .done:
      for event in reader.read(frames) {
        switch event {
        case .ping(let payload): sink.send(WebSocketFrame.pong(payload))
        case .close(let code): sink.close(with: WebSocketFrame.close(code))
        }
      }
    }
    return true
  }

  private func queue(_ bytes: [UInt8]) {
    if case .none = deadline { monitorTransfer(from: writer.total) }
    writer.queue(bytes)
  }

  // MARK: - Files

  /// Sends a content; before its head, since afterwards nothing can tell the client that its file is missing, the
  /// file must be open.
  private func send(_ content: Content, with response: Response) {
    if let file = context.files[content], file.isWhole { return send(file, with: response) }
    prepare(content, .preparing(content, response))
  }

  /// Has another thread open the content's file; one for all that wait for it, since its disk may be slow.
  func prepare(_ content: Content, _ preparing: Phase) {
    phase = preparing
    setTimeout(context.timeouts.transfer)
    let isUnderWay = context.opening[content] != nil
    context.opening[content, default: []].append(handle)
    if isUnderWay { return }
    Task(executorPreference: BlockingExecutor.files) {
      [queue = context.queue, metrics = context.files.metrics] in
      queue.post(.prepared(content, PreparedFile(content, metrics: metrics)))
    }
  }

  /// Continues with a response whose file was opened; nil if it could not be.
  func resume(with file: PreparedFile?) {
    switch phase {
    case .preparing(let content, let response):
      guard let file else { return sendUnavailable(content) }
      send(file, with: response)
    case .preparingAgain(let cached): sendAgain(cached, file)
    default: return
    }
  }

  func send(_ file: PreparedFile, with response: Response) {
    guard let request = exchange.request else { return close() }
    switch file.response(to: request, response) {
    case .prepared: send(file, 200)
    case .parts(let status, let fields, let body, let size):
      send(status, fields, body, size: size)
    case .problem(let problem): send(problem)
    }
  }

  /// Sends a file with its prepared head (200 or 304), without a queue if the socket takes it all.
  func send(_ file: PreparedFile, _ status: Int) {
    let isWhole = status == 200
    exchange.response = (status, isWhole ? file.content.size : 0)
    var end = headEnd()
    if let id = exchange.request?.clientRequestID {
      end = Array("X-Request-Id: \(id)\r\n".utf8) + end
    }
    monitorTransfer(from: writer.total)
    let isSent = writer.send(
      isWhole ? file.okHead : file.notModifiedHead, end, isWhole ? file : nil, over: transport,
      joinedIn: context.shortResponse)
    guard isSent else { return close() }
    if writer.isEmpty { responseSent() } else { phase = .sending }
  }

  /// Says why a content's file cannot be sent: to the log, and to the client that it cannot.
  private func sendUnavailable(_ content: Content) {
    Task(executorPreference: BlockingExecutor.files) {
      [log = context.log, path = content.path, size = content.size] in
      do throws(Errno) {
        _ = try FileDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        log(.error, "http", "\(path) is not \(size) bytes long or unreadable")
      } catch {
        if [EMFILE, ENFILE].contains(error.rawValue) {
          ConnectionLimiter.warnOfDescriptorShortage(error.rawValue, log)
        } else {
          log(.error, "http", "\(path) cannot be opened: \(error)")
        }
      }
    }
    send(
      .problem(
        503, "The content is temporarily unavailable.", fields: ["Retry-After": "1"]))
  }
}
