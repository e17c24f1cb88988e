import CMicroHTTPD
import FoundationEssentials

extension Connection {
  /// Queues the response; called on the HTTP thread when a response may be queued.
  func send(_ response: Response) -> MHD_Result {
    step = .answered
    let response = named(response)
    switch response.body {
    case .empty:
      return queue(response.status, RawResponse(bytes: [], fields: response.fields))
    case .bytes(let bytes):
      return queue(response.status, RawResponse(bytes: bytes, fields: response.fields))
    case .problem(let problem):
      let bytes = problem.bytes(request: requestID)
      return queue(response.status, RawResponse(bytes: bytes, fields: response.fields))
    case .content(let content):
      return send(content, with: response)
    case .events(let source):
      step = .streaming
      let sink = EventSink(handle, limits: worker.limits)
      setStream(sink)
      let result = queue(response.status, RawResponse(sink, fields: response.fields))
      release()
      source.open(sink)
      if worker.connections.isDraining { sink.closeForNow() }
      return result
    }
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

  /// Queues a response (MHD_queue_response), which may be used again.
  func queue(_ status: Int, _ response: borrowing RawResponse) -> MHD_Result {
    hold(worker.times.transfer(of: response.size))
    reply = (status, response.size)
    return cmicrohttpd_queue(handle, UInt32(status), response.handle)
  }

  /// Ends the connection in the middle of a body, where libmicrohttpd takes no response.
  func hangUp(_ response: Response) -> MHD_Result {
    leavesBytesUnread = true
    step = .answered
    let response = named(response)
    guard case .problem(let problem) = response.body else { return .NO }
    let body = problem.bytes(request: requestID)
    var head = "HTTP/1.1 \(response.status) \(Problem.title(of: response.status))\r\n"
    for (name, value) in response.fields.items { head += "\(name): \(value)\r\n" }
    head += "Date: \(HTTPDate.text(.now))\r\nX-Content-Type-Options: nosniff\r\n"
    head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    write(Array(head.utf8) + body)
    reply = (response.status, body.count)
    return .NO
  }
}
