import CLinux
import Glibc
import Synchronization

/// One request to a resident worker, over a connection that nothing else uses meanwhile.
final class Exchange: Watcher {
  /// How it went.
  enum Ending: Sendable {
    /// The worker ended the request (FastCGI 1.0 section 5.5).
    case complete(status: UInt32, protocolStatus: UInt8)
    /// The worker let go of the connection before that.
    case broken
    /// It wrote what it must not.
    case malformed(Malformation)
    case late
    case cancelled
  }

  /// What came of it.
  struct Outcome: Sendable {
    let ending: Ending
    let answer: AnswerSpool
    let complaints: [UInt8]
    /// Whether a byte of the reply had come; if not, another worker may be asked.
    let hasBegun: Bool
    /// The connection, if it may serve another request.
    let connection: Connection?
  }

  private struct State {
    var unsent: ArraySlice<UInt8>
    var answer: AnswerSpool
    var complaints: [UInt8] = []
    var reader: RecordReader
    var hasBegun = false
    var connection: Connection?
    var isCancelled = false
    var ticket: Poller.Ticket?
    var waiting: CheckedContinuation<Outcome, Never>?
    /// What came of it, before anybody waited.
    var outcome: Outcome?
    var news: News<Outcome>?
  }

  private let socket: Descriptor
  private let isKept: Bool
  private let poller: Poller
  private let deadline: ContinuousClock.Instant
  private let patience: Duration
  private let state: Mutex<State>

  /// - Parameters:
  ///   - request: Its records.
  ///   - id: Its number.
  ///   - connection: Where it is sent.
  ///   - isKept: Whether the worker was asked to keep that open.
  ///   - deadline: When it is given up.
  ///   - patience: How long to wait on this very thread first, for a worker that answers in less
  ///     time than it takes to change threads.
  ///   - answer: Collects the answer.
  ///   - poller: Waits for the rest of the time.
  init(
    _ request: [UInt8], _ id: UInt16, over connection: Connection, isKept: Bool,
    until deadline: ContinuousClock.Instant, patience: Duration, answer: AnswerSpool,
    poller: Poller
  ) {
    self.patience = patience
    (socket, self.isKept) = (connection.socket, isKept)
    self.poller = poller
    self.deadline = deadline
    state = Mutex(
      State(
        unsent: request[...], answer: answer, reader: RecordReader(id), connection: connection))
  }

  /// Sends the request and waits for its end.
  func outcome() async -> Outcome {
    if let outcome = begin() { return outcome }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        change { state in
          state.waiting = continuation
          if state.isCancelled { return finish(&state, .cancelled) }
          state.ticket = poller.watch(
            socket.number, for: state.unsent.isEmpty ? .input : .both, until: deadline, self)
        }
      }
    } onCancel: {
      change { state in
        state.isCancelled = true
        if state.waiting != nil { finish(&state, .cancelled) }
      }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let news = state.withLock { state in
      body(&state)
      return state.news.take()
    }
    news?.tell()
  }

  /// Sends the request; the outcome, when it comes within the patience.
  private func begin() -> Outcome? {
    state.withLock { state in
      let isOld = state.connection?.hasServed == true
      let readiness = state.connection?.readiness() ?? .closed
      let isSent = readiness == .ready && send(&state)
      if isOld, !isSent {
        state.connection = nil
        finish(&state, readiness == .spoken ? .malformed(RecordReader.afterEnd) : .broken)
        return state.outcome.take()
      }
      let isHurried = patience < Patience.ofThread
      if state.unsent.isEmpty, socket.hasInput(within: patience, isHurried: isHurried) {
        receive(&state)
      }
      return state.outcome.take()
    }
  }

  func ready(_ descriptor: Int32) {
    change { state in
      guard state.waiting != nil else { return }
      if !state.unsent.isEmpty {
        _ = send(&state)
        if state.unsent.isEmpty, let ticket = state.ticket { poller.change(ticket, to: .input) }
      }
      receive(&state)
    }
  }

  func expired() {
    change { if $0.waiting != nil { finish(&$0, .late) } }
  }

  /// Sends what can be sent now; false when the worker has let go.
  private func send(_ state: inout State) -> Bool {
    while !state.unsent.isEmpty {
      let count = state.unsent.withUnsafeBytes {
        Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      // A worker may answer without reading; what it has said counts, so a refused write does not.
      guard count > 0 else {
        if errno == EAGAIN { return true }
        state.unsent = []
        return false
      }
      state.unsent = state.unsent.dropFirst(count)
    }
    return true
  }

  private func receive(_ state: inout State) {
    var ending: Ending?
    var reader = state.reader
    func take(_ piece: UnsafeRawBufferPointer) {
      if case .malformed = ending { return }
      do throws(Malformation) {
        try reader.read(piece) { event throws(Malformation) in
          ending = try Exchange.take(event, &state)
        }
      } catch {
        ending = .malformed(error)
        state.answer = AnswerSpool(limit: 0, folder: "")
      }
    }
    let (unread, isAtEnd) =
      look {
        take($0)
        if case .complete = ending { return isKept }
        return false
      } ?? (0, socket.drain(take))
    state.reader = reader
    state.connection = isAtEnd ? nil : Connection(socket: socket, hasServed: true, unread: unread)
    if let ending {
      finish(&state, ending)
    } else if isAtEnd {
      finish(&state, .broken)
    }
  }

  /// Reads a little, and leaves it in the socket if `isLast` says that it ends an answer; nil when there may
  /// be more.
  private func look(
    _ isLast: (UnsafeRawBufferPointer) -> Bool
  ) -> (unread: Int, isAtEnd: Bool)? {
    withUnsafeTemporaryAllocation(byteCount: Connection.mostUnread + 1, alignment: 16) { buffer in
      switch socket.peek(into: buffer) {
      case .end: return (0, true)
      case .notYet: return (0, false)
      case .bytes(let count):
        let mayStay = isLast(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        let isAll = count < buffer.count
        if mayStay, isAll { return (count, false) }
        socket.skip(count)
        return isAll ? (0, false) : nil
      }
    }
  }

  private static func take(
    _ event: RecordReader.Event, _ state: inout State
  ) throws(Malformation) -> Ending? {
    switch event {
    case .output(let bytes):
      state.hasBegun = true
      try state.answer.append(bytes)
    case .errors(let bytes):
      state.complaints += bytes.prefix(Spawner.mostComplaints - state.complaints.count)
    case .end(let status, let protocolStatus):
      return .complete(status: status, protocolStatus: protocolStatus)
    }
    return nil
  }

  private func finish(_ state: inout State, _ ending: Ending) {
    if let ticket = state.ticket { poller.forget(ticket) }
    let outcome = Outcome(
      ending: ending, answer: state.answer, complaints: state.complaints,
      hasBegun: state.hasBegun, connection: state.connection)
    state.answer = AnswerSpool(limit: 0, folder: "")  // so that its file goes with the outcome
    if let waiting = state.waiting.take() {
      state.news = News(outcome, for: waiting)
    } else {
      state.outcome = outcome
    }
  }
}
