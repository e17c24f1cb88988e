import Primitives
import Synchronization
import Testing
import Waiting

/// A log for what anybody can cause, again and again.
@Suite(.timeLimit(.minutes(1))) struct LogLimitTests {
  private let clock = ManualClock()

  private final class Entries: Sendable {
    let all = Mutex<[LogEntry]>([])
    var texts: [String] { all.withLock { $0.map(\.text) } }
    var omitted: [Int] { all.withLock { $0.map(\.omitted) } }
  }

  @Test func `it has each text once in a minute, and says how many were left out`() {
    let (entries, clock) = (Entries(), clock)
    let log = Log { entry in entries.all.withLock { $0.append(entry) } }.limited(clock: clock)
    for _ in 0..<1000 { log(.warning, "sign-in", "away", request: "r") }
    log(.notice, "sign-in", "other")
    #expect(entries.texts == ["away", "other"])
    clock.advance(by: .seconds(59))
    log(.warning, "sign-in", "away")
    clock.advance(by: .seconds(1))
    for _ in 0..<2 { log(.warning, "sign-in", "away") }
    #expect(entries.texts == ["away", "other", "away"])
    #expect(entries.omitted == [0, 0, 1000])
    clock.advance(by: .seconds(60))
    log(.warning, "sign-in", "away")
    #expect(entries.omitted.last == 1)
    for _ in 0..<5 { log(.info, "sign-in", "added user 7") }
    #expect(entries.texts.count == 9, "what happens in normal operation stays")
  }

  @Test func `texts that differ each time do not fill it, and others are written later`() {
    let (entries, clock) = (Entries(), clock)
    let log = Log { entry in entries.all.withLock { $0.append(entry) } }.limited(clock: clock)
    for number in 0..<5000 { log(.notice, "sign-in", "wrong \(number)") }
    #expect(entries.texts.count == 101)
    clock.advance(by: .seconds(60))
    log(.notice, "sign-in", "away")
    #expect(entries.texts.last == "away" && entries.texts.count == 102)
  }
}
