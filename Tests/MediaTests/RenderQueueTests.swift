import Foundation
import PluginHost
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(1))) struct RenderQueueTests {
  private static let outcome = InFlightRender.Outcome.success(.redirect(location: "https://a.b"))

  @Test func `renders first what the most callers have waited for the longest`() async throws {
    let (few, many) = (InFlightRender(), InFlightRender())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (render, callers) in [(few, 1), (many, 3)] {
        for _ in 0..<callers { group.addTask { _ = await render.outcome() } }
        try await eventually("all callers wait") { render.subscribers == callers }
      }
      let fewPriority = few.priority(waited: .milliseconds(20))
      #expect(many.priority(waited: .milliseconds(10)) > fewPriority)
      #expect(many.priority(waited: .milliseconds(6)) < fewPriority)
      few.complete(Self.outcome)
      many.complete(Self.outcome)
    }
    #expect(few.subscribers == 0 && many.subscribers == 0)
  }

  @Test func `admits one call more than a plugin takes, and rejects with the time to wait`()
    async throws
  {
    let scratch = try Scratch()
    try scratch.installPlugin("one", manifest: #"{"workers":{"max":1}}"#, "exit 0")
    let plugin = try #require(try scratch.pluginHost().plugin("one"))
    let queues = RenderQueues(concurrency: 4, timeout: .zero)
    let gates = [InFlightRender(), InFlightRender()]
    let running = gates.map { gate in
      Task { await queues.run(InFlightRender(), of: plugin) { await gate.outcome() } }
    }
    for gate in gates { try await eventually("both run") { gate.subscribers == 1 } }
    let rejected = await queues.run(InFlightRender(), of: plugin) {
      Issue.record("it was admitted")
      return Self.outcome
    }
    let error = try #require(throws: ServiceError.self) { try rejected.get() }
    #expect(error.code == .busy && error.retryAfter == 1)
    #expect(queues.load(of: plugin).rejected == 1 && queues.load(of: plugin).waiting == 0)
    for gate in gates { gate.complete(Self.outcome) }
    for task in running { _ = try await task.value.get() }
    _ = try await queues.run(InFlightRender(), of: plugin) { Self.outcome }.get()
  }
}
