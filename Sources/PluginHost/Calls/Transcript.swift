import Synchronization

/// What went to a plugin and what came back, byte for byte: for its author to see.
package final class Transcript: Sendable {
  /// One time the plugin was asked; there are two when a worker let go and another was asked.
  package struct Exchange: Sendable {
    /// The variables, in the order they were given.
    package var variables: [(name: String, value: String)] = []
    /// The content of the request: its standard input.
    package var body: [UInt8] = []
    /// The header it answered with, up to and with the empty line.
    package var head: [UInt8] = []
    /// The content of its answer, as far as it stayed in memory.
    package var content: [UInt8] = []
    /// What it wrote to its standard error.
    package var complaints: [UInt8] = []
    /// How it ended, in the words of the log.
    package var ending = ""
    /// From the question to the end of the answer.
    package var duration = Duration.zero
  }

  private let state = Mutex<(exchanges: [Exchange], begun: ContinuousClock.Instant)>(
    ([], .now))

  /// Begins with nothing.
  package init() {}

  /// What was said until now.
  package var exchanges: [Exchange] { state.withLock { $0.exchanges } }

  func ask(_ variables: [(name: String, value: String)], _ body: [UInt8]) {
    state.withLock { state in
      state.exchanges.append(Exchange(variables: variables, body: body))
      state.begun = .now
    }
  }

  func answer(_ answer: AnswerSpool, _ complaints: [UInt8], _ ending: String) {
    state.withLock { state in
      guard var exchange = state.exchanges.popLast() else { return }
      exchange.head = answer.head
      exchange.content = answer.body.bytes
      exchange.complaints = complaints
      exchange.ending = ending
      exchange.duration = .now - state.begun
      state.exchanges.append(exchange)
    }
  }
}
