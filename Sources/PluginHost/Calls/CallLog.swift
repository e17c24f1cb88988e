import Primitives
import Synchronization

/// Writes log lines about one call, or about a process without one.
struct CallLog: Sendable {
  private let richType: String
  private let verb: PluginCall.Verb?
  private let id: String?
  private let log: Log
  private let standardError: OutputEnd?

  /// A log about a plugin's process.
  init(richType: String, to log: Log) {
    (self.richType, verb, id, self.log) = (richType, nil, nil, log)
    standardError = nil
  }

  /// A log about a call.
  init(call: PluginCall, to log: Log) {
    (richType, verb, id, self.log) = (call.richType, call.verb, call.id, log)
    standardError = OutputEnd()
  }

  /// The end of what the plugin wrote to its standard error in this call.
  var endOfStandardError: String { standardError?.text ?? "" }

  // Computed: most calls write nothing.
  private var prefix: String {
    richType + (verb.map { ", \($0.rawValue)" } ?? "")
      + (id.map { ", notification \($0)" } ?? "")
  }

  /// Writes the cause of a failed call.
  func write(_ error: PluginError) { write("\(error.code.rawValue): \(error.cause)") }

  /// Writes one line.
  func write(_ text: String) { write(.warning, "\(prefix): \(text)") }

  private func write(_ level: LogEntry.Level, _ text: String) {
    log(level, "plugin", text, notification: id)
  }

  /// Writes a line for each line of the plugin's standard error.
  func write(standardError bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    standardError?.add(bytes)
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      write(.info, "\(prefix) says: \(line)")
    }
  }
}

/// The end of a plugin's output.
private final class OutputEnd: Sendable {
  /// About a screen of text, in bytes.
  private static let size = 2000
  private let bytes = Mutex<[UInt8]>([])

  func add(_ more: [UInt8]) {
    bytes.withLock { $0 = Array(($0 + more).suffix(Self.size)) }
  }

  /// Without the rest of a character at the beginning.
  var text: String {
    String(decoding: bytes.withLock { $0.drop { $0 & 0xC0 == 0x80 } }, as: UTF8.self)
  }
}

/// Records what was sent to a plugin and what it returned, byte for byte, for the plugin's author.
package final class Transcript: Sendable {
  /// One attempt at a call; there are two if the first process ended before it answered.
  package struct Attempt: Sendable {
    /// The variables, in order.
    package var variables: [(name: String, value: String)] = []
    /// The standard input.
    package var body: [UInt8] = []
    /// The header of the response, with the empty line that ends it.
    package var head: [UInt8] = []
    /// The content of the response, if it stayed in memory.
    package var content: [UInt8] = []
    /// What the plugin wrote to its standard error.
    package var standardError: [UInt8] = []
    /// How the process or the request ended, in the words of the log.
    package var ending = ""
    /// From the request to the end of the response.
    package var duration = Duration.zero
    fileprivate let start = ContinuousClock.now
  }

  private let recorded = Mutex<[Attempt]>([])

  /// Creates an empty transcript.
  package init() {}

  /// The attempts so far.
  package var attempts: [Attempt] { recorded.withLock { $0 } }

  func recordRequest(_ variables: [(name: String, value: String)], _ body: [UInt8]) {
    recorded.withLock { $0.append(Attempt(variables: variables, body: body)) }
  }

  func recordResponse(_ response: CGIResponseBuffer, _ standardError: [UInt8], _ exit: ProcessExit)
  {
    recorded.withLock { attempts in
      guard var attempt = attempts.popLast() else { return }
      (attempt.head, attempt.content) = (response.head, response.body.bytes)
      (attempt.standardError, attempt.ending) = (standardError, exit.sentence)
      attempt.duration = .now - attempt.start
      attempts.append(attempt)
    }
  }
}
