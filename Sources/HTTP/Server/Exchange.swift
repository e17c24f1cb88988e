/// A request and its response, as far as they are known.
struct Exchange {
  /// Unique; `X-Request-Id` is derived from it.
  let serial: UInt64
  /// When the turn began in which the head was complete, in nanoseconds.
  let startTime: Int
  /// Nil if the head was rejected, or was not needed for a cached response.
  private(set) var request: Request?
  /// Whether the response must have no body, but the fields as if it had one.
  var isHeadRequest = false
  /// Where the response may be cached; nil if it depends on more than target and credentials.
  var cacheKey: CachedResponses.Key?
  /// The response that is sent again, if it was cached.
  var cached: (any CachedResponse)?
  /// The status and the size of the body; nil before the response begins.
  var response: (status: Int, bytes: Int)?
  /// What happens to the connection after the response.
  var persistence = ResponseHead.Persistence.keptOpen
  /// Whether unread bytes may arrive: closing must then not reset the connection.
  var leavesBytesUnread = false

  init(serial: UInt64, startTime: Int) { (self.serial, self.startTime) = (serial, startTime) }

  var requestID: String { request?.id ?? Request.id(serial) }

  /// Validates the head of the request.
  ///
  /// - Parameters:
  ///   - head: the head.
  ///   - peer: the address it was received from.
  ///   - context: whose proxies are trusted.
  /// - Returns: the request.
  /// - Throws: why it is rejected; the connection must then be closed.
  mutating func validate(
    _ head: RequestHead, from peer: String, in context: EventLoopContext
  ) throws(HTTPError) -> Request {
    isHeadRequest = head.method.elementsEqual("HEAD".utf8)
    var fields = try head.fields()
    // HTTP/1.0 has no expectations (RFC 9110, section 10.1.1).
    if head.version == .http10 { fields["Expect"] = nil }
    let method = String(decoding: head.method, as: UTF8.self)
    let body = try RequestValidator.validate(method: method, version: head.version, fields: fields)
    let client = ForwardedClient(
      peer: peer, isSecure: context.isSecure, fields: fields,
      trustedProxies: context.trustedProxies)
    persistence = ResponseHead.Persistence(head.version, fields)
    let request = try Request(
      method, String(decoding: head.target, as: UTF8.self), fields: fields, peer: client.peer,
      isSecure: client.isSecure, isPeerForwarded: client.isForwarded, body: body, serial: serial)
    self.request = request
    return request
  }

  /// Completes a response by the fields that depend on the request: X-Request-Id and CORS.
  func completed(_ response: Response, _ cors: CORSPolicy?) -> Response {
    var response = response
    if case .content = response.body {
      // Nearly all files are sent with a prepared head, which needs a response without fields.
      if let id = request?.clientRequestID { response.fields["X-Request-Id"] = id }
    } else {
      response.fields["X-Request-Id"] = requestID
    }
    cors?.addFields(to: &response.fields, for: request)
    return response
  }

  /// Records the end of the response, if one has begun; what it held is freed.
  ///
  /// - Parameters:
  ///   - isComplete: whether the whole response was passed to the kernel.
  ///   - peer: the address of the connection's other end.
  ///   - context: to whose observer the record is passed.
  mutating func end(isComplete: Bool, peer: String, in context: EventLoopContext) {
    guard let (status, bytes) = response else { return }
    let nanoseconds = context.time() - startTime
    defer { (request, response, cached) = (nil, nil, nil) }
    if let cached {
      cached.recordEnd(status: status, bytes: bytes, nanoseconds: nanoseconds)
      guard context.recordsCached else { return }
    }
    context.observer?.record(
      AccessRecord(
        request: request, method: cached == nil ? request?.method ?? "" : "GET", serial: serial,
        route: cached?.route ?? context.responder.route(of: request), peer: peer, status: status,
        bytes: bytes, nanoseconds: nanoseconds, isComplete: isComplete, isCached: cached != nil))
  }
}
