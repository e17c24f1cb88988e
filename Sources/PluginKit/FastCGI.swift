import Glibc

/// One process for many requests, one after the other (FastCGI 1.0, the responder role).
enum FastCGI {
  private static let mostParameters = 1 << 20
  private static let mostInput = 1 << 28

  /// Whether standard input is a socket that listens, which is how a resident worker is started.
  static var isWanted: Bool {
    var isListening: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0
      && isListening != 0
  }

  /// Answers the requests that come to `listener` until the server ends this process.
  static func answerAll(
    on listener: Int32, with answer: (PluginRequest) throws -> PluginResponse
  ) -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    while true {
      let number = accept(listener, nil, nil)
      if number < 0, errno == EINTR || errno == ECONNABORTED { continue }
      guard number >= 0 else { return EX_OSERR }
      let connection = Descriptor(number: number)
      var records = RecordStream(connection)
      // A caller that went away is no reason to end: the next one comes over its own connection.
      while (try? serveOne(&records, connection, answer)) == true {}
      close(number)
    }
  }

  /// Answers one request; true when the connection shall stay for another.
  private static func serveOne(
    _ records: inout RecordStream, _ connection: Descriptor,
    _ answer: (PluginRequest) throws -> PluginResponse
  ) throws -> Bool {
    var parameters: [UInt8] = []
    var input: [UInt8] = []
    var isKept = false
    var request: UInt16?
    while let record = try records.next() {
      switch record.kind {
      case Record.Kind.beginRequest where record.content.count == 8:
        request = record.request
        isKept = record.content[2] & 1 != 0
        if record.content[1] != 1 {
          try connection.write(ending(of: record.request, protocolStatus: 3))
          return isKept
        }
      case Record.Kind.parameters where record.request == request:
        parameters += record.content
        guard parameters.count <= mostParameters else { return false }
      case Record.Kind.input where record.request == request:
        guard record.content.isEmpty else {
          input += record.content
          guard input.count <= mostInput else { return false }
          continue
        }
        try connection.write(
          reply(to: record.request, parameters: parameters, body: input, answer))
        return isKept
      case Record.Kind.getValues:
        try connection.write(values())
      case Record.Kind.abortRequest:
        return false
      default:
        break
      }
    }
    return false
  }

  private static func reply(
    to request: UInt16, parameters: [UInt8], body: [UInt8],
    _ answer: (PluginRequest) throws -> PluginResponse
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      guard let pairs = Record.pairs(in: parameters) else { throw Refusal("Bad parameters.") }
      let response = try response(of: answer, body: body) { pairs[$0] }
      Record.encodeStream(Record.Kind.output, response.encoded(), request: request, to: &bytes)
      return bytes + ending(of: request)
    } catch {
      Record.encodeStream(
        Record.Kind.errors, Array("\(error)\n".utf8), request: request, to: &bytes)
      return bytes + ending(of: request, status: UInt8(EX_SOFTWARE))
    }
  }

  private static func ending(
    of request: UInt16, status: UInt8 = 0, protocolStatus: UInt8 = 0
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    Record(
      kind: Record.Kind.endRequest, request: request,
      content: [0, 0, 0, status, protocolStatus, 0, 0, 0]
    ).encode(to: &bytes)
    return bytes
  }

  /// What FCGI_GET_VALUES wants to know: one connection and one request at a time.
  private static func values() -> [UInt8] {
    let pairs = [("FCGI_MAX_CONNS", "1"), ("FCGI_MAX_REQS", "1"), ("FCGI_MPXS_CONNS", "0")]
    let content = pairs.flatMap { name, value in
      [UInt8(name.utf8.count), UInt8(value.utf8.count)] + name.utf8 + value.utf8
    }
    var bytes: [UInt8] = []
    Record(kind: Record.Kind.getValuesResult, request: 0, content: content).encode(to: &bytes)
    return bytes
  }
}
