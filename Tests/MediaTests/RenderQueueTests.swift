import Foundation
import PluginHost
import Primitives
import RichPushAPI
import Store
import Synchronization
import TestSupport
import Testing
import Waiting

@testable import Media

@Suite(.timeLimit(.minutes(1))) struct RenderQueueTests {
  private static let outcome = RenderOutcome.success(.redirect(location: "https://a.b"))

  private final class Order: Sendable {
    private let order = Mutex<[Int]>([])
    var values: [Int] { order.withLock { $0 } }
    func append(_ value: Int) { order.withLock { $0.append(value) } }
  }

  @Test func `renders first what the most callers have waited for the longest`() async throws {
    let scratch = try Scratch()
    try scratch.installPlugin("one", manifest: #"{"workers":{"max":1}}"#, "exit 0")
    let plugin = try #require(try scratch.pluginHost().plugin("one"))
    let queues = RenderQueues(concurrency: 4)
    let gates = [Barrier(), Barrier()]
    let order = Order()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for gate in gates {
        group.addTask {
          _ = await queues.run(of: plugin, waiters: { 1 }) {
            await gate.opening()
            return Self.outcome
          }
        }
        try await eventually("it runs") { gate.waiters == 1 }
      }
      // However much longer the first has waited than the last.
      for (index, callers) in [1, 1_000_000, 1_000_000_000_000].enumerated() {
        group.addTask {
          _ = await queues.run(of: plugin, waiters: { callers }) {
            order.append(index)
            return Self.outcome
          }
        }
        try await eventually("it waits") { queues.load(of: plugin).waiting == index + 1 }
      }
      gates[0].open()
      try await eventually("all have run") { order.values.count == 3 }
      gates[1].open()
      try await group.waitForAll()
    }
    #expect(order.values == [2, 1, 0])
  }

  @Test func `admits one call more than a plugin takes, and rejects with the time to wait`()
    async throws
  {
    let scratch = try Scratch()
    try scratch.installPlugin("one", manifest: #"{"workers":{"max":1}}"#, "exit 0")
    let plugin = try #require(try scratch.pluginHost().plugin("one"))
    let queues = RenderQueues(concurrency: 4, timeout: .zero)
    let gate = Barrier()
    let running = (0..<2).map { _ in
      Task {
        await queues.run(of: plugin, waiters: { 1 }) {
          await gate.opening()
          return Self.outcome
        }
      }
    }
    try await eventually("both run") { gate.waiters == 2 }
    let rejected = await queues.run(of: plugin, waiters: { 1 }) {
      Issue.record("it was admitted")
      return Self.outcome
    }
    let error = try #require(throws: ServiceError.self) { try rejected.get() }
    #expect(error.code == .busy && error.retryAfter == 1)
    #expect(queues.load(of: plugin).rejected == 1 && queues.load(of: plugin).waiting == 0)
    gate.open()
    for task in running { _ = try await task.value.get() }
    _ = try await queues.run(of: plugin, waiters: { 1 }) { Self.outcome }.get()
  }
}

/// Holds up all who come before it is opened.
private final class Barrier: Sendable {
  private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])

  var waiters: Int { waiting.withLock { $0?.count ?? 0 } }

  func opening() async {
    await withCheckedContinuation { continuation in
      let isOpen = waiting.withLock { $0?.append(continuation) == nil }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    for continuation in waiting.withLock({ $0.take() }) ?? [] { continuation.resume() }
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
    let gate = Barrier()
    let calls = (0..<5).map { _ in
      Task {
        try await queues.inTurn(of: Self.alice, plugin) { () async throws(ServiceError) in
          await gate.opening()
        }
      }
    }
    try await eventually("as many run as may") { gate.waiters == atOnce }
    let other = try await queues.inTurn(of: Self.bob, plugin) { () async throws(ServiceError) in 1 }
    let background = try await queues.inTurn(of: nil, plugin) { () async throws(ServiceError) in 2 }
    #expect([other, background] == [1, 2] && gate.waiters == atOnce)
    gate.open()
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
    let gate = Barrier()
    let first = Task.immediate {
      try await queues.inTurn(of: Self.alice, plugin) { () async throws(ServiceError) in
        await gate.opening()
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
    gate.open()
    for call in [first] + waiting.dropFirst() { try await call.value }
  }
}
