extension Connection {
  /// Begins to send the response.
  func send(_ response: Response) {
    let response = named(response)
    switch response.body {
    case .empty: send(response.status, response.fields, [], size: 0)
    case .bytes(let bytes): send(response.status, response.fields, bytes: bytes)
    case .problem(let problem):
      send(response.status, response.fields, bytes: problem.bytes(request: requestID))
    case .content(let content): send(content, with: response)
    case .events(let source): send(source, with: response)
    }
  }

  /// Begins to send a head, and the body unless the request was for the head alone.
  func send(
    _ status: Int, _ fields: Fields, _ body: [Output.Piece], size: Int
  ) {
    let head = ResponseHead.bytes(status, fields, status == 204 ? .none : .length(size))
    begin(status, head, wantsHeadOnly ? [] : body)
  }

  /// Sends more of the answer; false when the other side takes no more for now.
  func send() -> Bool {
    switch output.send(over: channel) {
    case .blocked: return false
    case .failed: close()
    case .done: completed()
    }
    return true
  }

  /// Sends what the stream has; false when that is nothing for now, or too much.
  func send(from sink: EventSink) -> Bool {
    // A client that listens has nothing more to say, and says so only when it goes.
    if hasEnded { close() }
    switch output.send(over: channel) {
    case .blocked: return false
    case .failed: close()
    case .done:
      guard let piece = sink.next() else {
        hand(sink.isChunked ? ChunkedBody.end : [])
        sink.end()
        phase = .answering
        return true
      }
      guard !piece.isEmpty else { return false }
      hand(sink.isChunked ? ChunkedBody.chunk(piece) : piece)
    }
    return true
  }

  private func hand(_ bytes: [UInt8]) {
    if monitor == nil { watch() }
    output = Output(bytes)
    moved += bytes.count
  }

  /// Asks for the body that is awaited (RFC 9110, section 10.1.1): at once, or the connection ends,
  /// since whoever has not read the answers before has no right to wait for this one.
  func sayContinue() {
    let sent = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8).withUnsafeBytes {
      channel.send($0, .empty, .empty).count == $0.count
    }
    if !sent { close() }
  }

  /// The end of a head that is sent now.
  func endOfHead() -> [UInt8] {
    if worker.admission.isDraining { ending = .closes }
    return worker.end(ending)
  }

  private func begin(_ status: Int, _ head: [UInt8], _ body: [Output.Piece] = []) {
    let size = body.reduce(0) { $0 + $1.count }
    reply = (status, size)
    let head = head + endOfHead()
    output = Output(head, body)
    phase = .answering
    watch(handing: head.count + size)
  }

  private func send(_ status: Int, _ fields: Fields, bytes: [UInt8]) {
    send(status, fields, [.bytes(bytes)], size: bytes.count)
  }

  private func send(_ source: any EventSource, with response: Response) {
    var fields = response.fields
    fields["Content-Type"] = "text/event-stream"
    fields["Cache-Control"] = "no-store"
    let isChunked = ending == .stays
    if !isChunked { ending = .closes }
    let head = ResponseHead.bytes(response.status, fields, isChunked ? .chunked : .none)
    begin(response.status, head)
    if wantsHeadOnly { return }
    let sink = EventSink(
      Ticket(descriptor: channel.descriptor, serial: serial), worker.mailbox,
      limits: worker.limits, isChunked: isChunked)
    phase = .streaming(sink)
    source.open(sink)
    if worker.admission.isDraining { sink.closeForNow() }
  }

  /// The response with the request's name, and with what a page of another origin may see of it.
  ///
  /// Media comes prepared for everybody, so it bears a name only when the client gave one.
  private func named(_ response: Response) -> Response {
    var response = response
    if case .content = response.body {
      if let id = request?.givenID { response.fields["X-Request-Id"] = id }
    } else {
      response.fields["X-Request-Id"] = requestID
    }
    if let crossOrigin = worker.crossOrigin { crossOrigin.mark(&response.fields, for: request) }
    return response
  }

  private var requestID: String { request?.id ?? Request.name(serial) }
}
