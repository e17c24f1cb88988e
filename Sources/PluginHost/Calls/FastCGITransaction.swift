import CLinux
import Glibc
import Primitives
import Synchronization

/// One request to a resident process, over a connection that nothing else uses meanwhile.
final class FastCGITransaction: PollHandler {
  /// How the transaction ended.
  enum Ending: Sendable {
    /// The process ended the request (FastCGI 1.0 section 5.5).
    case complete(status: UInt32, protocolStatus: UInt8)
    /// The process closed the connection before that.
    case disconnected
    case malformed(MalformedOutput)
    case timedOut
    case cancelled
  }

  struct Outcome: Sendable {
    let ending: Ending
    let response: CGIResponseBuffer
    let standardError: [UInt8]
    /// Whether a byte of the response was received; if not, another process may be tried.
    let hasBegun: Bool
    /// The connection, if it may serve another request.
    let connection: FastCGIConnection?
  }

  private struct State {
    var unsent: ArraySlice<UInt8>
    var response: CGIResponseBuffer
    var standardError: [UInt8] = []
    var reader: FastCGIResponseReader
    var hasBegun = false
    var connection: FastCGIConnection?
    var isCancelled = false
    var token: Poller.Token?
    var waiter: CheckedContinuation<Outcome, Never>?
    /// The outcome, if it was known before the caller suspended.
    var outcome: Outcome?
    var pendingResume: PendingResume<Outcome>?
  }

  private let socket: FileDescriptor
  private let keepsConnection: Bool
  private let poller: Poller
  private let deadline: ContinuousClock.Instant
  private let inlineTimeout: Duration
  private let state: Mutex<State>

  /// Prepares the request whose records are in `request`, with the number `id`.
  ///
  /// The process was asked to keep the connection open if `keepsConnection`. The request is given up at
  /// `deadline`; for the `inlineTimeout` the calling thread waits itself (``InlineWait``).
  init(
    _ request: [UInt8], _ id: UInt16, over connection: FastCGIConnection, keepsConnection: Bool,
    until deadline: ContinuousClock.Instant, inlineTimeout: Duration,
    response: CGIResponseBuffer, _ poller: Poller
  ) {
    (socket, self.keepsConnection) = (connection.socket, keepsConnection)
    (self.deadline, self.inlineTimeout, self.poller) = (deadline, inlineTimeout, poller)
    state = Mutex(
      State(
        unsent: request[...], response: response, reader: FastCGIResponseReader(id),
        connection: connection))
  }

  /// Sends the request and waits for its end.
  func outcome() async -> Outcome {
    if let outcome = begin() { return outcome }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        change { state in
          state.waiter = continuation
          if state.isCancelled { return finish(&state, .cancelled) }
          state.token = poller.watch(
            socket.number, for: state.unsent.isEmpty ? .reading : .readingAndWriting,
            until: deadline, self)
        }
      }
    } onCancel: {
      change { state in
        state.isCancelled = true
        if state.waiter != nil { finish(&state, .cancelled) }
      }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let pending = state.withLock { state in
      body(&state)
      return state.pendingResume.take()
    }
    pending?.resume()
  }

  /// Sends the request; returns the outcome if it is known within the inline timeout.
  private func begin() -> Outcome? {
    state.withLock { state in
      let isReused = state.connection?.hasServed == true
      let readiness = state.connection?.readiness() ?? .closed
      let isSent = readiness == .ready && send(&state)
      if isReused, !isSent {
        state.connection = nil
        let isSpeaking = readiness == .hasExtraBytes
        finish(
          &state, isSpeaking ? .malformed(FastCGIResponseReader.afterEnd) : .disconnected)
        return state.outcome.take()
      }
      // A thread that has no other work gains nothing by yielding.
      let yieldsFirst = inlineTimeout < InlineWait.longest
      if state.unsent.isEmpty,
        socket.waitForInput(timeout: inlineTimeout, yieldsFirst: yieldsFirst)
      {
        receive(&state)
      }
      return state.outcome.take()
    }
  }

  func descriptorReady(_ descriptor: Int32) {
    change { state in
      guard state.waiter != nil else { return }
      if !state.unsent.isEmpty {
        _ = send(&state)
        if state.unsent.isEmpty, let token = state.token { poller.change(token, to: .reading) }
      }
      receive(&state)
    }
  }

  func deadlinePassed() {
    change { if $0.waiter != nil { finish(&$0, .timedOut) } }
  }

  /// Sends what can be sent now; false if the process has closed the connection.
  private func send(_ state: inout State) -> Bool {
    while !state.unsent.isEmpty {
      do throws(Errno) {
        let count = try FileDescriptor.retrying {
          state.unsent.withUnsafeBytes {
            Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
        }
        state.unsent = state.unsent.dropFirst(count)
      } catch {
        if error.rawValue == EAGAIN { return true }
        // A process may answer without having read everything; then its answer counts.
        state.unsent = []
        return false
      }
    }
    return true
  }

  private func receive(_ state: inout State) {
    var ending: Ending?
    var reader = state.reader
    func parse(_ piece: UnsafeRawBufferPointer) {
      if case .malformed = ending { return }
      do throws(MalformedOutput) {
        try reader.read(piece) { event throws(MalformedOutput) in
          ending = try Self.apply(event, to: &state) ?? ending
        }
      } catch {
        ending = .malformed(error)
        state.response = .none
      }
    }
    let (unread, isAtEnd) =
      readLeavingEnd { piece in
        parse(piece)
        if case .complete = ending { return keepsConnection }
        return false
      } ?? (0, socket.drain(parse))
    state.reader = reader
    state.connection =
      isAtEnd ? nil : FastCGIConnection(socket: socket, hasServed: true, unread: unread)
    if let ending {
      finish(&state, ending)
    } else if isAtEnd {
      finish(&state, .disconnected)
    }
  }

  /// Reads a little, and leaves it in the socket if `isEnd` says that it ends the response
  /// (``FastCGIConnection/unread``); nil if there may be more.
  private func readLeavingEnd(
    _ isEnd: (UnsafeRawBufferPointer) -> Bool
  ) -> (unread: Int, isAtEnd: Bool)? {
    withUnsafeTemporaryAllocation(
      byteCount: FastCGIConnection.maximumUnread + 1, alignment: 16
    ) { buffer in
      switch socket.peek(into: buffer) {
      case .end: return (0, true)
      case .wouldBlock: return (0, false)
      case .bytes(let count):
        let mayStay = isEnd(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        let isAll = count < buffer.count
        if mayStay, isAll { return (count, false) }
        socket.skip(count)
        return isAll ? (0, false) : nil
      }
    }
  }

  private static func apply(
    _ event: FastCGIResponseReader.Event, to state: inout State
  ) throws(MalformedOutput) -> Ending? {
    switch event {
    case .output(let bytes):
      state.hasBegun = true
      try state.response.append(bytes)
    case .errors(let bytes):
      state.standardError += bytes.prefix(StandardError.limit - state.standardError.count)
    case .end(let status, let protocolStatus):
      return .complete(status: status, protocolStatus: protocolStatus)
    }
    return nil
  }

  private func finish(_ state: inout State, _ ending: Ending) {
    if let token = state.token { poller.remove(token) }
    let outcome = Outcome(
      ending: ending, response: state.response, standardError: state.standardError,
      hasBegun: state.hasBegun, connection: state.connection)
    state.response = .none  // so that its file goes with the outcome
    if let waiter = state.waiter.take() {
      state.pendingResume = PendingResume(waiter, returning: outcome)
    } else {
      state.outcome = outcome
    }
  }
}

/// A connection to a resident process, between its requests.
struct FastCGIConnection: Sendable {
  let socket: FileDescriptor
  /// Whether a request was answered over it.
  var hasServed = false
  /// The bytes of the last response that were read and are still in the socket.
  ///
  /// Reading from a Unix socket wakes the process that wrote to it, even if it waits for the next request and not
  /// for space. So the bytes are left until the next request is sent, and the process wakes up once for both.
  var unread = 0

  /// Larger responses are taken out at once.
  static let maximumUnread = 1023

  enum Readiness {
    case ready
    /// The process has closed it.
    case closed
    /// The process has written more since its last response.
    case hasExtraBytes
  }

  /// Takes out what was left there, and checks whether it can be used.
  func readiness() -> Readiness {
    guard hasServed else { return .ready }
    return withUnsafeTemporaryAllocation(byteCount: Self.maximumUnread + 1, alignment: 16) {
      buffer in
      switch socket.readNow(into: buffer) {
      case .bytes(let count): count == unread ? .ready : .hasExtraBytes
      case .wouldBlock: unread == 0 ? .ready : .closed
      case .end: .closed
      }
    }
  }
}

/// Parses the records of the response to one request, in pieces of any size (FastCGI 1.0 section 3.3).
///
/// A record of another request, or anything after the end of the response, is an error: a process that confuses
/// requests could send one caller another's response.
struct FastCGIResponseReader {
  /// What a piece means.
  enum Event {
    case output(UnsafeRawBufferPointer)
    case errors(UnsafeRawBufferPointer)
    /// The response is complete (section 5.5).
    case end(status: UInt32, protocolStatus: UInt8)
  }

  private let id: UInt16
  private var isOver = false
  private var header: [UInt8] = []
  private var kind: FastCGIRecord.Kind?
  private var content = 0
  private var padding = 0
  private var endBody: [UInt8] = []

  /// Parses the response to the request with this number.
  init(_ id: UInt16) { self.id = id }

  static let afterEnd = MalformedOutput("it wrote more after the end of its answer")

  /// Reads the next piece and calls `body` with each event, in order.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer, _ body: (Event) throws(MalformedOutput) -> Void
  ) throws(MalformedOutput) {
    var rest = bytes
    func next(_ count: Int) -> UnsafeRawBufferPointer {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      return piece
    }
    while !rest.isEmpty {
      if isOver { throw Self.afterEnd }
      if header.count < FastCGIRecord.Header.size {
        header += next(FastCGIRecord.Header.size - header.count)
        guard header.count == FastCGIRecord.Header.size else { return }
        try begin()
      } else if content > 0 {
        let piece = next(content)
        content -= piece.count
        switch kind {
        case .output: try body(.output(piece))
        case .errors: try body(.errors(piece))
        case .endRequest: endBody += piece
        default: break
        }
      } else {
        padding -= next(padding).count
      }
      guard content == 0, padding == 0 else { continue }
      header.removeAll(keepingCapacity: true)
      if kind == .endRequest {
        isOver = true
        let status = endBody.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        try body(.end(status: status, protocolStatus: endBody[4]))
      }
    }
  }

  private mutating func begin() throws(MalformedOutput) {
    guard let parsed = FastCGIRecord.Header(header), parsed.kind != nil,
      [0, id].contains(parsed.requestID)
    else { throw MalformedOutput("its FastCGI record begins with \(header)") }
    // Number 0 is for management records, which are ignored.
    kind = parsed.requestID == 0 ? .unknownType : parsed.kind
    (content, padding) = (parsed.contentLength, parsed.paddingLength)
    endBody = []
    if kind == .endRequest, content != Self.endSize {
      throw MalformedOutput("its FastCGI end record has \(content) bytes")
    }
  }

  /// The content of an FCGI_END_REQUEST record, in bytes.
  private static let endSize = 8
}

/// The part of a plugin's standard error that is logged.
enum StandardError {
  /// For each call, in bytes.
  static let limit = 65_536
}
