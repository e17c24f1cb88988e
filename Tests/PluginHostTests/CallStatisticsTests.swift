import FoundationEssentials
import Primitives
import Testing

@testable import PluginHost

@Suite(.serialized, .timeLimit(.minutes(1))) struct CallStatisticsTests {
  @Test func `counts failures of the plugin or the server, and not refusals`() {
    let statistics = CallStatistics()
    for code in PluginError.Code.allCases {
      statistics.count(.render, .zero, PluginError(code, "No.", cause: code.rawValue))
    }
    statistics.count(.validate, .seconds(2))
    let calls = statistics.summary
    #expect(calls.count == PluginError.Code.allCases.count + 1)
    #expect(calls.failures == 3 && calls.lastFailure == "timedOut")
    #expect(calls.verbs["render"]?.failures == 3)
    #expect(calls.verbs["validate"] == PluginStatus.Verb(count: 1, failures: 0, time: .seconds(2)))
  }

  @Test func `no duration is too long to be counted`() {
    #expect(Duration.seconds(Int64.max).microseconds > .max / 2)
    #expect(Duration.seconds(Int64.min).microseconds == 0)
    #expect(Duration.milliseconds(1500).microseconds == 1_500_000)
  }

  @Test func `keeps when the last failure was, and the end of what its call wrote`() throws {
    let statistics = CallStatistics()
    #expect(statistics.summary.lastFailureTime == nil)
    let call = PluginCall(verb: .render, richType: "note", payload: "p")
    let log = CallLog(call: call, to: .silent)
    log.write(standardError: Array(String(repeating: "x", count: 5000).utf8))
    log.write(standardError: Array("Traceback: \u{1B}[31m<b>".utf8))
    let start = Date()
    statistics.count(.render, .zero, PluginError(.failed, "No."), output: log.endOfStandardError)
    #expect(try #require(statistics.summary.lastFailureTime) >= start)
    let output = statistics.summary.lastFailureOutput
    #expect(output.hasSuffix("xTraceback: \u{1B}[31m<b>") && output.utf8.count == 2000)
    // A success and a refusal leave it; another failure without output does not.
    statistics.count(.render, .zero)
    statistics.count(.render, .zero, PluginError(.invalidContent, "No."))
    #expect(statistics.summary.lastFailureOutput == output)
    statistics.count(.render, nil, .busy("Wait."))
    #expect(statistics.summary.lastFailureOutput.isEmpty)
  }

  @Test func `does not time calls that were not admitted`() {
    let statistics = CallStatistics()
    statistics.count(.render, .microseconds(50))
    statistics.count(.render, nil, .busy("Wait."))
    #expect(statistics.summary.count == 2 && statistics.summary.failures == 1)
    #expect(statistics.summary.percentile95 == .microseconds(50))
  }

  @Test func `has the quantiles of the last 512 calls`() {
    let statistics = CallStatistics()
    #expect(statistics.summary.median == nil && statistics.summary.percentile95 == nil)
    for _ in 0..<512 { statistics.count(.render, .seconds(9)) }
    for time in 1...512 { statistics.count(.render, .microseconds(time)) }
    #expect(statistics.summary.median == .microseconds(257))
    #expect(statistics.summary.percentile95 == .microseconds(487))
  }

  @Test func `times a call from its admission`() async throws {
    let fixture = try PluginFixture { $0.queueTimeout = .seconds(60) }
    try fixture.resident("slow", "sleep 0.01; syswrite $c, ok('done');")
    let start = ContinuousClock.now
    await withTaskGroup { group in
      for _ in 0..<12 { group.addTask { _ = await fixture.code("slow") } }
    }
    let elapsed = ContinuousClock.now - start
    let calls = try #require(fixture.host.status().first).calls
    #expect(calls.count == 12 && calls.failures == 0)
    // There is one process, so the calls follow one another; times in the queue would overlap.
    #expect(try #require(calls.verbs["render"]).time <= elapsed)
  }
}
