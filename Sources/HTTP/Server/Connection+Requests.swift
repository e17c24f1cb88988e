import Primitives

// From received bytes to requests, and from requests to the plans for their responses.
extension Connection {
  /// Receives and handles as much as possible; false if nothing can be done now.
  func receive() -> Bool {
    // Back pressure: the peer waits while the disk is slower.
    if case .body(let body) = phase, !body.wantsBytes { return false }
    switch reader.receive(over: transport, into: context.buffer, atMost: receiveLimit) {
    case .blocked: return false
    case .failed: close()
    case .done(0): peerFinished()
    case .done: handleReceived()
    }
    return true
  }

  /// Few bytes for a head, because what follows it must be copied and kept until its request is complete.
  private var receiveLimit: Int {
    if case .head = phase { 16 << 10 } else { .max }
  }

  private func handleReceived() {
    defer { reader.keepRest() }
    do throws(HTTPError) {
      while !reader.isEmpty {
        switch phase {
        case .head:
          let wasInsideHead = reader.isInsideHead
          guard let head = try reader.nextHead() else {
            if reader.isInsideHead, !wasInsideHead { setTimeout(headTimeout) }
            return
          }
          handle(head)
        case .body(let body) where !body.isReceived:
          try reader.read(body)
          save(body)
          if body.isComplete { received(body) }
        case .lingering, .closed: reader.discard()
        case .tlsHandshake, .planning, .body, .responding, .preparing, .preparingAgain, .sending,
          .streaming:
          return
        }
      }
    } catch {
      rejectIncomplete(with: error.response)
    }
  }

  // MARK: - Requests

  private func beginExchange() {
    exchange = Exchange(serial: context.nextSerial(), startTime: context.turnStart)
  }

  private func handle(_ head: RequestHead) {
    beginExchange()
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
      exchange.cacheKey = key
    }
    do throws(HTTPError) {
      let request = try exchange.validate(head, from: peer, in: context)
      try context.browserPolicy?.check(request)
      if isOverflow {
        return reject(with: context.responder.responseWhenFull(to: request) ?? Self.full)
      }
      if let response = context.cors?.preflightResponse(to: request) {
        try execute(.immediate(response), for: request)
      } else if let earlier, let unopened {
        prepare(unopened, .preparingAgain(earlier))
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
    guard let request = exchange.request else { return close() }
    do throws(HTTPError) {
      guard let file, earlier.isValid(at: context.second) else {
        return try execute(plan(for: request, like: earlier), for: request)
      }
      earlier.recordUse()
      exchange.cached = earlier
      send(file, with: exchange.completed(.content(file.content), context.cors))
    } catch {
      reject(with: error.response)
    }
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
      _ = try? exchange.validate(head, from: peer, in: context)
    }
    if simple.wantsClose { exchange.persistence = .closed }
    earlier.recordUse()
    exchange.cached = earlier
    send(file, simple.ifNoneMatch == nil ? 200 : 304)
    return true
  }

  /// Sends an error without reading what follows the head, and closes the connection.
  func reject(with response: Response) {
    exchange.leavesBytesUnread = true
    exchange.persistence = .closed
    send(response)
  }

  /// The same, for a request whose head or body is not complete.
  private func rejectIncomplete(with response: Response) {
    if case .head = phase {
      beginExchange()
      exchange.isHeadRequest = reader.beginsWithHEAD
    }
    reader.discard()
    reject(with: response)
  }

  /// Responds to a request whose head or body is late (RFC 9110, section 15.5.9).
  func rejectLateRequest() { rejectIncomplete(with: Self.late) }

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
      monitorTransfer(from: 0)
      if request.fields["Expect"] != nil, !body.isSaving { sendContinue() }
    }
  }

  /// Continues with the plan that a deferred plan returned.
  func resume(with plan: ResponsePlan) {
    guard case .planning = phase, let request = exchange.request else { return }
    do throws(HTTPError) {
      try execute(plan, for: request)
    } catch {
      reject(with: error.response)
    }
  }

  /// Continues with the response that the application has produced.
  func resume(with response: Response) {
    switch phase {
    case .planning, .responding: send(response)
    default: return
    }
  }

  /// Ends the receipt of a body, unless it is complete.
  func interruptBody(with response: Response) {
    if case .body = phase { reject(with: response) }
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
  func resume(afterSaving error: HTTPError?) {
    guard case .body(let body) = phase else { return }
    let isFirst = body.received == 0
    body.endSaving()
    if let error { return reject(with: error.response) }
    if isFirst, exchange.request?.fields["Expect"] != nil { sendContinue() }
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
