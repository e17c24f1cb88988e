extension Connection {
  /// Acts on a head that has come.
  func begin(_ head: RequestHead) {
    name()
    if isExcess { return refuse(Self.full) }
    if worker.crossOrigin == nil, let plain = PlainHead(head),
      worker.browsers?.admits(plain) != false, stands(plain, head)
    {
      return
    }
    do throws(Refusal) {
      let request = try checked(head)
      self.request = request
      try worker.browsers?.check(request)
      if let response = worker.crossOrigin?.preflight(request) {
        try prepare(.now(response), for: request)
      } else {
        try prepare(worker.responder.answer(request), for: request)
      }
    } catch {
      refuse(error.response)
    }
  }

  /// Goes on with a request as was decided; its body, if there is one, has not been read yet.
  func decided(_ ticket: Ticket, _ answer: Answer) {
    guard case .deciding = phase, ticket.serial == serial, let request else { return }
    do throws(Refusal) { try prepare(answer, for: request) } catch { refuse(error.response) }
  }

  /// Gives the request that has come a name and a beginning.
  func name() {
    serial = worker.nextSerial()
    if worker.observer != nil { begun = Ticks.nanoseconds }
    (ending, wantsHeadOnly, leavesBytesUnread) = (.stays, false, false)
  }

  /// Sends an error before what follows the head is read, and closes the connection.
  func refuse(_ response: Response) {
    leavesBytesUnread = true
    ending = .closes
    send(response)
  }

  /// The body has come as a whole.
  func finish(_ body: IncomingBody) {
    switch body.use {
    case .dropped(.reply(let response)): send(response)
    case .dropped(.work(let deadline, let work)): wait(deadline, work)
    case .collected(let buffer): wait(buffer.deadline) { await buffer.work(buffer.bytes) }
    case .saved(let file):
      let (work, saved) = (file.work, file.finish())
      wait(file.deadline) { await work(saved) }
    }
  }

  /// The answer to a request that was being worked on.
  func settle(_ ticket: Ticket, _ response: Response) {
    guard case .waiting = phase, ticket.serial == serial else { return }
    send(response)
  }

  private static let full = Response.problem(
    503, "The server has as many connections as it can take; try again in a moment.",
    fields: ["Retry-After": "1"])

  /// Gives the answer that stands, if one does.
  private func stands(_ plain: PlainHead, _ head: RequestHead) -> Bool {
    let authorization = plain.authorization.map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard
      let answer = worker.responder.standing(
        at: String(decoding: plain.target, as: UTF8.self), for: authorization),
      let content = answer.content, let prepared = worker.prepared[content]
    else { return false }
    var status = 200
    if let validator = plain.validator {
      guard prepared.isTagged(validator) else { return false }
      status = 304
    }
    if worker.observer?.readsRequest == true { request = try? checked(head) }
    if plain.isLast { ending = .closes }
    answer.take()
    route = answer.route
    send(prepared, status)
    return true
  }

  private func checked(_ head: RequestHead) throws(Refusal) -> Request {
    wantsHeadOnly = head.method.elementsEqual("HEAD".utf8)
    guard var fields = head.fields else { throw Guard.unreadable(400) }
    if head.version == .http10 { fields["Expect"] = nil }  // which knows none
    let method = String(decoding: head.method, as: UTF8.self)
    let body = try Guard.check(method: method, version: head.version, fields: fields)
    let client = worker.forwarding.client(peer: peer, isSecure: worker.isSecure, fields: fields)
    ending = Self.ending(head.version, fields)
    return try Request(
      method, String(decoding: head.target, as: UTF8.self), fields: fields, peer: client.peer,
      isSecure: client.isSecure, isPeerNamed: client.isNamed, body: body, serial: serial)
  }

  /// What becomes of the connection after the answer (RFC 9112, section 9.3).
  private static func ending(
    _ version: RequestHead.Version, _ fields: Fields
  ) -> ResponseHead.Ending {
    let options = (fields["Connection"] ?? "").lowercased().split(separator: ",")
      .map { $0.filter { $0 != " " && $0 != "\t" } }
    if options.contains("close") { return .closes }
    if version == .http11 { return .stays }
    return options.contains("keep-alive") ? .staysIn10 : .closes
  }

  private func prepare(_ answer: Answer, for request: Request) throws(Refusal) {
    switch answer {
    case .deciding(let deadline, let decide):
      hold(deadline.milliseconds)
      let ticket = Ticket(descriptor: channel.descriptor, serial: serial)
      phase = .deciding(
        Task { [mailbox = worker.mailbox] in mailbox.post(.decision(ticket, await decide())) })
    case .now(let response):
      if request.body == .none { return send(response) }
      if response.status >= 400 { return refuse(response) }
      try expect(request, .dropped(then: .reply(response)))
    case .later(let deadline, let work):
      if request.body == .none { return wait(deadline, work) }
      try expect(request, .dropped(then: .work(deadline, work)))
    case .reading(let limit, let deadline, let work):
      try expect(
        request, .collected(BodyBuffer(limit: limit, deadline: deadline, work: work)))
    case .saving(let limit, let folder, let deadline, let work):
      try expect(
        request,
        .saved(try BodyFile(limit: limit, folder: folder, deadline: deadline, work: work)))
    }
  }

  /// Waits for the body.
  private func expect(_ request: Request, _ use: IncomingBody.Use) throws(Refusal) {
    let body = try IncomingBody(request.body, use: use)
    if body.isComplete { return finish(body) }
    phase = .body(body)
    switch request.body {
    case .sized(let size): hold(worker.times.transfer(of: size))
    case .none, .chunked: hold(worker.times.transfer(of: use.limit))
    }
    if request.fields["Expect"] != nil { sayContinue() }
  }

  /// Waits for the work.
  private func wait(_ deadline: Duration, _ work: @escaping @Sendable () async -> Response) {
    hold(deadline.milliseconds)
    let ticket = Ticket(descriptor: channel.descriptor, serial: serial)
    phase = .waiting(
      Task { [mailbox = worker.mailbox] in mailbox.post(.answer(ticket, await work())) })
  }
}
