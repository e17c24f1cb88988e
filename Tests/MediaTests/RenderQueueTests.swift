import Foundation
import PluginHost
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

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

/// The lines in which the calls of one user wait.
@Suite(.timeLimit(.minutes(1))) struct UserTurnTests {
  private static let (alice, bob) = (UserID(rawValue: 1), UserID(rawValue: 2))

  private func plugin(workers: Int, in scratch: Scratch) throws -> Plugin {
    let name = "of\(workers)"
    try scratch.installPlugin(name, manifest: #"{"workers":{"max":\#(workers)}}"#, "exit 0")
    return try #require(try scratch.pluginHost().plugin(name))
  }

  @Test(arguments: [(1, 2), (2, 1), (4, 3), (9, 3)])
  func `one user's calls leave a process of the plugin to others`(
    workers: Int, atOnce: Int
  ) async throws {
    let scratch = try Scratch()
    let plugin = try plugin(workers: workers, in: scratch)
    let queues = RenderQueues(concurrency: 4)
    let gate = InFlightRender()
    let calls = (0..<5).map { _ in
      Task {
        try await queues.inTurn(of: Self.alice, plugin) { () async throws(ServiceError) in
          _ = await gate.outcome()
        }
      }
    }
    try await eventually("as many run as may") { gate.subscribers == atOnce }
    let other = try await queues.inTurn(of: Self.bob, plugin) { () async throws(ServiceError) in 1 }
    let background = try await queues.inTurn(of: nil, plugin) { () async throws(ServiceError) in 2 }
    #expect([other, background] == [1, 2] && gate.subscribers == atOnce)
    gate.complete(.failure(ServiceError(.busy, "")))
    for call in calls { try await call.value }
  }

  @Test func `only so many of a user's calls wait, and another type's are not among them`()
    async throws
  {
    let scratch = try Scratch()
    let (plugin, other) = (
      try plugin(workers: 2, in: scratch), try plugin(workers: 1, in: scratch)
    )
    let queues = RenderQueues(concurrency: 4)
    let gate = InFlightRender()
    let first = Task.immediate {
      try await queues.inTurn(of: Self.alice, plugin) { () async throws(ServiceError) in
        _ = await gate.outcome()
      }
    }
    let waiting = (0..<UserQuota.waitingRenditions).map { _ in
      Task.immediate {
        try await queues.inTurn(of: Self.alice, plugin) { () async throws(ServiceError) in }
      }
    }
    let error = await #expect(throws: ServiceError.self) {
      try await queues.inTurn(of: Self.alice, plugin) { () async throws(ServiceError) in }
    }
    #expect(error?.code == .tooManyRequests && error?.retryAfter == 1)
    try await queues.inTurn(of: Self.alice, other) { () async throws(ServiceError) in }
    waiting[0].cancel()
    await #expect(throws: ServiceError.self) { try await waiting[0].value }
    gate.complete(.failure(ServiceError(.busy, "")))
    for call in [first] + waiting.dropFirst() { try await call.value }
  }
}
