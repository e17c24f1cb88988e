import Glibc
import Primitives

// Receiving: from bytes to requests, and from requests to the plans for their responses.
extension Connection {
  /// Parses what was received, or receives more; false if nothing can be done now.
  func receive() -> Bool {
    // Back pressure: the peer waits while the disk is slower.
    if case .body(let body) = phase, !body.wantsBytes { return false }
    if !unparsed.isEmpty, !needsMoreBytes {
      let bytes = unparsed
      unparsed = []
      bytes.withUnsafeBytes { parse($0) }
      return true
    }
    guard isReadable else { return false }
    let buffer = receiveBuffer
    switch transport.receive(into: buffer) {
    case .failed: close()
    case .done(0): peerFinished()
    case .blocked:
      isReadable = false
      return false
    case .done(let count):
      // A buffer that was not filled means that the socket is empty: this saves a call of recv(2)
      // per request. Not if an end follows, or if TLS may have records of its own.
      if count < buffer.count, !hasPeerFinished, transport.tls == nil { isReadable = false }
      received(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return true
  }

  /// The part of the event loop's buffer to receive into: a small one for heads, because what
  /// follows a head must be copied and kept until its request is complete.
  private var receiveBuffer: UnsafeMutableRawBufferPointer {
    guard case .head = phase else { return context.buffer }
    return UnsafeMutableRawBufferPointer(rebasing: context.buffer[..<Self.headBufferSize])
  }

  private static let headBufferSize = 16 << 10

  private func received(_ bytes: UnsafeRawBufferPointer) {
    guard !unparsed.isEmpty else { return parse(bytes) }
    let all = unparsed + bytes
    unparsed = []
    all.withUnsafeBytes { parse($0) }
  }

  /// Parses as much as possible, and keeps the rest.
  private func parse(_ bytes: UnsafeRawBufferPointer) {
    var position = 0
    while position < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
      switch phase {
      case .head:
        let used = parseHead(rest)
        if used == 0 { return keep(rest, needsMoreBytes: true) }
        position += used
      case .body(let body):
        if body.isReceived { return keep(rest, needsMoreBytes: false) }
        position += parse(rest, of: body)
      case .lingering, .closed: return
      case .tlsHandshake, .planning, .responding, .preparing, .sending, .streaming:
        return keep(rest, needsMoreBytes: false)
      }
    }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer, needsMoreBytes: Bool) {
    unparsed = Array(bytes)
    self.needsMoreBytes = needsMoreBytes
  }

  /// Parses a head and handles its request; returns the head's size, 0 if more must be received.
  private func parseHead(_ bytes: UnsafeRawBufferPointer) -> Int {
    // An empty line before a request is ignored (RFC 9112, section 2.2).
    if bytes.first == UInt8(ascii: "\r"), bytes.starts(with: "\r\n".utf8) { return 2 }
    do throws(HTTPError) {
      guard let head = try RequestHead.parse(bytes) else {
        if !needsMoreBytes { setTimeout(headTimeout) }
        return 0
      }
      needsMoreBytes = false
      handle(head)
      return head.size
    } catch {
      beginRequest()
      isHeadRequest = bytes.starts(with: "HEAD ".utf8)
      reject(with: error.response)
      return bytes.count
    }
  }

  private func parse(_ bytes: UnsafeRawBufferPointer, of body: IncomingBody) -> Int {
    do throws(HTTPError) {
      let used = try body.consume(bytes)
      transferred += used
      save(body)
      if body.isComplete { received(body) }
      return used
    } catch {
      reject(with: error.response)
      return bytes.count
    }
  }

  // MARK: - Requests

  private func handle(_ head: RequestHead) {
    beginRequest()
    var earlier: (any CachedResponse)?
    /// What can be sent again once its file is open.
    var unopened: Content?
    // The fast path. Not with CORS, where the response depends on Origin.
    if !isOverflow, context.cors == nil, let simple = SimpleRequestHead(head),
      context.browserPolicy?.accepts(simple) != false
    {
      let key = context.cachedResponses.key(simple.target, simple.authorization)
      if let found = context.cachedResponses.find(key, at: context.second) {
        if send(found, to: simple, head) { return }
        earlier = found
        unopened = found.content.flatMap { content in
          let isWanted =
            simple.ifNoneMatch.map { $0.elementsEqual(content.quotedETag.utf8) } ?? true
          return isWanted && context.files[content]?.isWhole != true ? content : nil
        }
      }
      cacheKey = key
    }
    do throws(HTTPError) {
      let request = try validatedRequest(head)
      self.request = request
      try context.browserPolicy?.check(request)
      if isOverflow {
        return reject(with: context.responder.responseWhenFull(to: request) ?? Self.full)
      }
      if let response = context.cors?.preflightResponse(to: request) {
        try execute(.immediate(response), for: request)
      } else if let earlier, let unopened {
        prepare(unopened, .preparing(unopened, nil, cached: earlier))
      } else {
        try execute(plan(for: request, like: earlier), for: request)
      }
    } catch {
      reject(with: error.response)
    }
  }

  private func plan(for request: Request, like earlier: (any CachedResponse)?) -> ResponsePlan {
    guard let earlier, earlier.content == nil else { return context.responder.plan(for: request) }
    return context.responder.plan(for: request, like: earlier)
  }

  /// Sends a cached response again, whose file was opened; if it could not be, or is not valid any more, the request
  /// is handled as one that is not cached.
  func sendAgain(_ earlier: any CachedResponse, _ file: PreparedFile?) {
    guard let request else { return close() }
    do throws(HTTPError) {
      guard let file, earlier.isValid(at: context.second) else {
        return try execute(plan(for: request, like: earlier), for: request)
      }
      earlier.recordUse()
      cached = earlier
      send(file, with: completed(.content(file.content)))
    } catch {
      reject(with: error.response)
    }
  }

  /// Resets the state of the previous request.
  private func beginRequest() {
    serial = context.nextSerial()
    startTime = context.turnStart
    (persistence, isHeadRequest, leavesBytesUnread) = (.keptOpen, false, false)
    cacheKey = nil
  }

  /// Sends a cached response again; false if it has no content, or its file is not prepared or not whole any more.
  private func send(
    _ earlier: any CachedResponse, to simple: SimpleRequestHead, _ head: RequestHead
  ) -> Bool {
    guard let content = earlier.content, let file = context.files[content], file.isWhole
    else { return false }
    // Any other value of If-None-Match, such as a list, is evaluated by Preconditions.
    if let validator = simple.ifNoneMatch, !file.matches(validator) { return false }
    if context.recordsCached || simple.hasRequestID {
      request = try? validatedRequest(head)
    }
    if simple.wantsClose { persistence = .closed }
    earlier.recordUse()
    cached = earlier
    send(file, simple.ifNoneMatch == nil ? 200 : 304)
    return true
  }

  private func validatedRequest(_ head: RequestHead) throws(HTTPError) -> Request {
    isHeadRequest = head.method.elementsEqual("HEAD".utf8)
    var fields = try head.fields()
    // HTTP/1.0 has no expectations (RFC 9110, section 10.1.1).
    if head.version == .http10 { fields["Expect"] = nil }
    let method = String(decoding: head.method, as: UTF8.self)
    let body = try RequestValidator.validate(method: method, version: head.version, fields: fields)
    let client = ForwardedClient(
      peer: peer, isSecure: context.isSecure, fields: fields,
      trustedProxies: context.trustedProxies)
    persistence = Self.persistence(head.version, fields)
    return try Request(
      method, String(decoding: head.target, as: UTF8.self), fields: fields, peer: client.peer,
      isSecure: client.isSecure, isPeerForwarded: client.isForwarded, body: body, serial: serial)
  }

  /// Whether the client wants the connection to be kept open (RFC 9112, section 9.3).
  private static func persistence(
    _ version: RequestHead.Version, _ fields: Fields
  ) -> ResponseHead.Persistence {
    let options = (fields["Connection"] ?? "").lowercased().split(separator: ",")
      .map { $0.filter { $0 != " " && $0 != "\t" } }
    if options.contains("close") { return .closed }
    if version == .http11 { return .keptOpen }
    return options.contains("keep-alive") ? .keptOpenForHTTP10 : .closed
  }

  /// Sends an error without reading what follows the head, and closes the connection.
  func reject(with response: Response) {
    leavesBytesUnread = true
    persistence = .closed
    send(response)
  }

  /// Responds to a request whose head or body is late (RFC 9110, section 15.5.9).
  func rejectLateRequest() {
    if case .head = phase {
      beginRequest()
      isHeadRequest = unparsed.starts(with: "HEAD ".utf8)
    }
    reject(with: Self.late)
  }

  private static let late = Response.problem(
    408, "The request did not arrive in time; send it again on a new connection.")

  private static let full = Response.problem(
    503, "The server has reached its limit of connections; try again in a moment.",
    fields: ["Retry-After": "1"])

  // MARK: - Plans

  private func execute(_ plan: ResponsePlan, for request: Request) throws(HTTPError) {
    switch plan {
    case .deferred(let deadline, let decide):
      setTimeout(deadline.milliseconds)
      let hasBody = request.body != .none
      phase = .planning(
        Task(executorPreference: BlockingExecutor.requests) {
          [handle = handle, queue = context.queue] in
          let plan = await decide()
          if !hasBody, case .asynchronous(_, let work) = plan {
            queue.post(.response(handle, await work()))
          } else {
            queue.post(.plan(handle, plan))
          }
        })
    case .immediate(let response) where request.body == .none: send(response)
    case .immediate(let response) where response.status >= 400: reject(with: response)
    case .asynchronous(let deadline, let work) where request.body == .none: run(work, deadline)
    case .immediate, .asynchronous, .collectingBody, .savingBody:
      let body = try IncomingBody(request.body, for: plan)
      if body.isComplete { return received(body) }
      phase = .body(body)
      save(body)
      body.plan.interruption?.onInterrupt { [handle, queue = context.queue] response in
        queue.post(.interruption(handle, response))
      }
      monitorTransfer()
      if request.fields["Expect"] != nil, !body.isSaving { sendContinue() }
    }
  }

  /// Continues with the plan that a deferred plan returned.
  func resume(_ handle: RequestHandle, with plan: ResponsePlan) {
    guard case .planning = phase, handle.serial == serial, let request else { return }
    do throws(HTTPError) {
      try execute(plan, for: request)
    } catch {
      reject(with: error.response)
    }
  }

  /// Continues with the response that the application has produced.
  func resume(_ handle: RequestHandle, with response: Response) {
    guard handle.serial == serial else { return }
    switch phase {
    case .planning, .responding: send(response)
    default: return
    }
  }

  /// Ends the receipt of a body, unless it is complete.
  func interruptBody(_ handle: RequestHandle, with response: Response) {
    guard case .body = phase, handle.serial == serial else { return }
    reject(with: response)
  }

  /// Has another thread write to the body's file, if there is enough to write.
  private func save(_ body: IncomingBody) {
    guard let saving = body.beginSaving() else { return }
    Task(executorPreference: BlockingExecutor.bodies) { [handle = handle, queue = context.queue] in
      do throws(HTTPError) {
        try saving.run()
        queue.post(.saved(handle, nil))
      } catch {
        queue.post(.saved(handle, error))
      }
    }
  }

  /// Continues with a body of which a piece was written.
  func resume(_ handle: RequestHandle, afterSaving error: HTTPError?) {
    guard case .body(let body) = phase, handle.serial == serial else { return }
    let isFirst = transferred == 0
    body.endSaving()
    if let error { return reject(with: error.response) }
    if isFirst, request?.fields["Expect"] != nil { sendContinue() }
    save(body)
    if body.isComplete { received(body) }
  }

  /// Executes the rest of a plan when its request's body is complete.
  private func received(_ body: IncomingBody) {
    switch body.plan {
    case .immediate(let response): send(response)
    case .asynchronous(let deadline, let work): run(work, deadline)
    case .collectingBody(_, let deadline, _, let work):
      let bytes = body.bytes
      run({ await work(bytes) }, deadline)
    case .savingBody(_, _, _, let deadline, _, let work):
      guard let file = body.finishFile() else { return close() }
      run({ await work(file) }, deadline)
    case .deferred: close()  // it has no body: see execute(_:for:)
    }
  }

  private func run(_ work: @escaping @Sendable () async -> Response, _ deadline: Duration) {
    setTimeout(deadline.milliseconds)
    phase = .responding(
      Task(executorPreference: BlockingExecutor.requests) {
        [handle = handle, queue = context.queue] in
        queue.post(.response(handle, await work()))
      })
  }
}

/// Where a request really comes from, if proxies forwarded it.
struct ForwardedClient {
  /// The client's address; the proxy's own if that named none.
  private(set) var peer: String
  /// Whether the client used TLS.
  private(set) var isSecure: Bool
  /// Whether a trusted proxy named the address.
  private(set) var isForwarded = false

  /// The client of a request that was received from `peer`.
  ///
  /// Each proxy appends the address that it was connected from to X-Forwarded-For. The list is
  /// therefore believed from the right, as long as a trusted proxy (a canonical address) wrote the
  /// entry.
  init(peer: String, isSecure: Bool, fields: Fields, trustedProxies: IPAddressSet) {
    (self.peer, self.isSecure) = (peer, isSecure)
    guard trustedProxies.contains(peer) else { return }
    for entry in (fields["X-Forwarded-For"] ?? "").split(separator: ",").reversed() {
      guard trustedProxies.contains(self.peer) else { break }
      guard let address = IPAddress.forwarded(entry) else {
        isForwarded = false
        break
      }
      (self.peer, isForwarded) = (address, true)
    }
    if let scheme = fields.values(of: "X-Forwarded-Proto").last {
      self.isSecure = scheme.lowercased() == "https"
    }
  }
}
