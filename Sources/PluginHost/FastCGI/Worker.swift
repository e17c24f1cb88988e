import CLinux
import Glibc
import Synchronization

/// A resident process of a plugin, with a listening socket of its own as its descriptor 0.
///
/// It serves one request at a time. What it writes to its standard streams goes to the log.
final class Worker: Resident, Watcher {
  private struct State {
    var requests = 0
    var speaker: CallLog
    var complaints = 0
    var isAsked = false
    var ending: Ending?
    var waiting: [CheckedContinuation<Ending, Never>] = []
    var life: Poller.Ticket?
    var voice: Poller.Ticket?
    var onRest: (@Sendable () -> Void)?
    /// When its calls have paused, when it has rested long enough, and whether the poller will remember.
    var restFrom = ContinuousClock.now
    var restUntil = ContinuousClock.now
    var isWatched = false
    /// Whether its supervisor takes it to rest, and so allows it little processor time.
    var isAtRest = true
    var onEnd: (@Sendable () -> Void)?
    /// Open since the request before.
    var kept: Connection?
    var keepsConnections = true
  }

  /// After a call there may be work left for so long.
  private static let pause = Duration.seconds(2)

  /// Holds the socket, the assets lent to it (`in`) and its TMPDIR (`tmp`).
  let residence: Residence
  /// Where it may write; emptied after each request.
  var scratch: ScratchFolder { residence.scratch }
  var folder: ScratchFolder { residence.folder }
  /// What each of its requests says beside what is the request's own, and the same encoded.
  let environment: [(name: String, value: String)]
  let parameters: [UInt8]
  private let status: Descriptor
  private let errors: Descriptor
  private let poller: Poller
  private let state: Mutex<State>

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - residence: An empty folder of its own.
  ///   - order: What to run.
  ///   - environment: What each request says beside what is its own.
  ///   - log: Takes its lines until it has a request.
  ///   - forker: Starts it.
  ///   - poller: Waits for it.
  /// - Throws: ``PluginError`` 503 when no process or descriptor can be had.
  init(
    residence: Residence, order: Order, environment: [(name: String, value: String)],
    log: CallLog, forker: Forker, poller: Poller
  ) throws(PluginError) {
    guard let status = Channel.socketPair(), let errors = Channel.pipe(),
      let listener = UnixSocket.listener(in: residence.folder.path)
    else { throw .busy("The server has no descriptors left for the plugin.") }
    try forker.send(order, [status.theirs, listener, errors.theirs, errors.theirs])
    self.residence = residence
    self.environment = environment
    parameters = Record.encoded(environment)
    self.status = status.ours
    self.errors = errors.ours
    self.poller = poller
    state = Mutex(State(speaker: log))
    state.withLock { state in
      state.life = poller.watch(self.status.number, self)
      state.voice = poller.watch(self.errors.number, self)
    }
  }

  var requests: Int { state.withLock { $0.requests } }

  var isAlive: Bool { state.withLock { $0.ending == nil } }

  /// It is not when it works on while nobody asks: nor would its successor rest.
  var isReplaced: Bool { state.withLock { $0.ending != .tooMuchTime } }

  /// Whether it may be asked to leave connections open: until it was seen not to.
  var keepsConnections: Bool { state.withLock { $0.keepsConnections } }

  /// Notes that a request is to come, of which `log` will speak.
  ///
  /// - Returns: Its number, 1 to 65535; it is used again only after all others.
  func begin(_ log: CallLog) -> UInt16 {
    state.withLock { state in
      let id = UInt16(state.requests % 0xFFFF + 1)
      state.requests += 1
      state.speaker = log
      state.complaints = 0
      state.isAsked = true
      state.onRest = nil
      if state.isAtRest {
        state.isAtRest = false
        Word.work.say(to: status)
      }
      return id
    }
  }

  /// The connection kept from the request before; nil when there is none any more.
  func keptConnection() -> Connection? {
    state.withLock { $0.kept.take() }
  }

  /// A new connection; nil when it takes none.
  func newConnection() -> Connection? {
    UnixSocket.connection(in: folder.path).map { Connection(socket: $0) }
  }

  /// Notes that it does not keep connections.
  func letGo() {
    state.withLock { $0.keepsConnections = false }
  }

  /// Keeps a connection over which a request was answered, for the next.
  func keep(_ connection: Connection) {
    state.withLock { if $0.keepsConnections { $0.kept = connection } }
  }

  func rest(until deadline: ContinuousClock.Instant, then action: @escaping @Sendable () -> Void) {
    state.withLock { state in
      (state.onRest, state.restUntil) = (action, deadline)
      state.restFrom = .now + Worker.pause
      state.isAsked = false
      watchRest(&state)
    }
  }

  func whenEnded(_ action: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.ending == nil { state.onEnd = action }
      return state.ending != nil
    }
    if isOver { action() }
  }

  /// Lets it end by itself: SIGTERM, and SIGKILL when the order's grace is over.
  func retire() {
    shutdown(status.number, Int32(SHUT_WR))
  }

  /// Ends it at once, with all it started, and says how it ended.
  func kill() async -> Ending {
    end()
    return await withCheckedContinuation { continuation in
      let ending = state.withLock { state in
        if state.ending == nil { state.waiting.append(continuation) }
        return state.ending
      }
      if let ending { continuation.resume(returning: ending) }
    }
  }

  private func end() { Word.kill.say(to: status) }

  func ready(_ descriptor: Int32) {
    if descriptor == errors.number { return listen() }
    let (speaker, waiting, action) = state.withLock { state in
      let ending = Ending(report: status.contents(atMost: 4096) ?? [])
      state.ending = ending
      for ticket in [state.life, state.voice] { ticket.map(poller.forget) }
      (state.life, state.voice) = (nil, nil)
      defer { (state.waiting, state.onEnd, state.kept) = ([], nil, nil) }
      return (state.speaker, state.waiting.map { ($0, ending) }, state.onEnd)
    }
    listen()
    action?()
    if !isReplaced { speaker.note("its process was killed: it \(Ending.tooMuchTime.sentence)") }
    for (continuation, ending) in waiting { continuation.resume(returning: ending) }
    Task { [residence] in await residence.remove() }
  }

  func expired() {
    let action = state.withLock { state -> (@Sendable () -> Void)? in
      state.isWatched = false
      if state.onRest == nil { return nil }
      if state.restFrom <= .now, !state.isAtRest {
        state.isAtRest = true
        Word.rest.say(to: status)
      }
      if state.restUntil <= .now { return state.onRest }
      watchRest(&state)
      return nil
    }
    action?()
  }

  /// Calls in between cost the poller nothing: that there were any is seen when the time is over.
  private func watchRest(_ state: inout State) {
    guard let life = state.life, !state.isWatched else { return }
    state.isWatched = true
    poller.postpone(
      life, until: state.isAtRest ? state.restUntil : min(state.restFrom, state.restUntil))
  }

  private func listen() {
    var heard: [UInt8] = []
    let isAtEnd = errors.drain { heard += $0 }
    let (speaker, isRaving) = state.withLock { state in
      heard = Array(heard.prefix(Spawner.mostComplaints - state.complaints))
      state.complaints += heard.count
      let isRaving =
        state.ending == nil && !state.isAsked && state.complaints == Spawner.mostComplaints
      if isAtEnd || isRaving, let voice = state.voice {
        poller.forget(voice)
        state.voice = nil
      }
      return (state.speaker, isRaving)
    }
    speaker.complain(heard)
    guard isRaving else { return }
    speaker.note("its process is ended: nobody asks it, and it writes without end")
    end()
  }
}
