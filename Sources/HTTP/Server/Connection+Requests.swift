import CMicroHTTPD

extension Connection {
  /// A body that nobody wants is read and dropped up to this size; a longer one costs the connection.
  private static let dropLimit = 64 * 1024

  /// One call of the access handler: once for the head, once per piece of body, once at its end.
  ///
  /// libmicrohttpd closes the connection when a response is queued on the first call. So only
  /// refusals are; everything else waits for the call that follows the body.
  func advance(
    method: UnsafePointer<CChar>, version: UnsafePointer<CChar>,
    bytes: UnsafeRawBufferPointer
  ) -> MHD_Result {
    if case .head = step {
      if worker.observer != nil { begun = Ticks.nanoseconds }
      serial = worker.nextSerial()
      if isExcess { return refuse(Self.full) }
      if worker.crossOrigin == nil, let head = PlainHead(handle, method, version), stands(head) {
        release()
        return .YES
      }
      return begin(method: String(cString: method), String(cString: version))
    }
    return bytes.isEmpty ? finish() : take(bytes)
  }

  private func begin(method: String, _ version: String) -> MHD_Result {
    do throws(Refusal) {
      let fields = receivedFields()
      let body = try Guard.check(method: method, version: version, fields: fields)
      let client = worker.forwarding.client(
        peer: peer, isSecure: worker.isSecure, fields: fields)
      let request = try Request(
        method, target, fields: fields, peer: client.peer, isSecure: client.isSecure, body: body,
        serial: serial)
      self.request = request
      if let response = worker.crossOrigin?.preflight(request) {
        return try prepare(for: .now(response), request)
      }
      return try prepare(for: worker.responder.answer(request), request)
    } catch {
      return refuse(error.response)
    }
  }

  private func prepare(for answer: Answer, _ request: Request) throws(Refusal) -> MHD_Result {
    switch answer {
    case .now(let response):
      if request.body != .none && response.status >= 400 { return refuse(response) }
      step = .dropping(left: Self.dropLimit, .reply(response))
    case .later(let deadline, let work):
      step = .dropping(left: Self.dropLimit, .work(deadline, work))
    case .reading(let limit, let deadline, let work):
      try check(request.body, limit: limit)
      step = .reading(BodyBuffer(limit: limit, deadline: deadline, work: work))
    case .saving(let limit, let folder, let deadline, let work):
      try check(request.body, limit: limit)
      step = .saving(try BodyFile(limit: limit, folder: folder, deadline: deadline, work: work))
    }
    switch request.body {
    case .none: release()
    case .sized(let size): hold(worker.times.transfer(of: size))
    case .chunked: hold(worker.times.transfer(of: limitOfBody))
    }
    return .YES
  }

  private func check(_ body: Request.Body, limit: Int) throws(Refusal) {
    if case .sized(let size) = body, size > limit { throw .tooLarge(limit) }
  }

  private var limitOfBody: Int {
    switch step {
    case .reading(let buffer): buffer.limit
    case .saving(let file): file.limit
    default: Self.dropLimit
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> MHD_Result {
    do throws(Refusal) {
      switch step {
      case .dropping(let left, let next):
        guard bytes.count <= left else { throw .tooLarge(Self.dropLimit) }
        step = .dropping(left: left - bytes.count, next)
      case .reading(let buffer): try buffer.append(bytes)
      case .saving(let file): try file.append(bytes)
      case .head, .standing, .waiting, .answered, .streaming: break
      }
      return .YES
    } catch {
      return hangUp(error.response)
    }
  }

  private func finish() -> MHD_Result {
    switch step {
    case .standing(let prepared, let status): return send(prepared, status)
    case .dropping(_, .reply(let response)): return send(response)
    case .dropping(_, .work(let deadline, let work)): return suspend(deadline, work)
    case .reading(let buffer):
      return suspend(buffer.deadline) { await buffer.work(buffer.bytes) }
    case .saving(let file):
      let (work, body) = (file.work, file.finish())
      return suspend(file.deadline) { await work(body) }
    case .waiting(let suspended):
      guard let response = suspended.answer else { return .YES }
      setSuspended(nil)
      return send(response)
    case .head, .answered, .streaming: return .YES
    }
  }

  private func suspend(
    _ deadline: Duration, _ work: @escaping @Sendable () async -> Response
  ) -> MHD_Result {
    hold(deadline.milliseconds)
    let suspended = Suspended(handle)
    step = .waiting(suspended)
    setSuspended(suspended)
    suspended.start(work)
    return .YES
  }

  /// Says what libmicrohttpd refuses by itself: a head that it cannot read, or that is too long.
  func refuse(unreadable status: Int) {
    serial = worker.nextSerial()
    if worker.observer != nil { begun = Ticks.nanoseconds }
    (request, step) = (nil, .answered)
    _ = hangUp(.problem(status, Guard.sentence(status)))
    cut()  // or libmicrohttpd would only notice when something more comes
  }

  private static let full = Response.problem(
    503, "The server has as many connections as it can take; try again in a moment.",
    fields: ["Retry-After": "1"])

  /// Queues an error on the first call: the body stays unread and the connection is closed.
  private func refuse(_ response: Response) -> MHD_Result {
    leavesBytesUnread = true
    return send(response)
  }

  /// Whether the answer to the head stands already, and so is the next step.
  private func stands(_ head: PlainHead) -> Bool {
    let authorization = head.authorization.map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard let answer = worker.responder.standing(at: target, for: authorization),
      let content = answer.content, let prepared = worker.prepared[content]
    else { return false }
    var status = 200
    if let validator = head.validator {
      guard prepared.isTagged(validator) else { return false }
      status = 304
    }
    answer.take()
    (route, step) = (answer.route, .standing(prepared, status))
    return true
  }

  /// The request whose answer stood, for who wants to know.
  var standingRequest: Request? {
    try? Request("GET", target, fields: receivedFields(), peer: peer, isSecure: worker.isSecure)
  }

  private func receivedFields() -> Fields {
    var fields = Fields()
    withUnsafeMutablePointer(to: &fields) {
      _ = MHD_get_connection_values_n(handle, .HEADER_KIND, collectField, $0)
    }
    return fields
  }
}

private let collectField: MHD_KeyValueIteratorN = { fields, _, name, nameSize, value, valueSize in
  fields?.assumingMemoryBound(to: Fields.self).pointee.append(
    received: UnsafeRawBufferPointer(start: name, count: nameSize),
    UnsafeRawBufferPointer(start: value, count: valueSize))
  return .YES
}
