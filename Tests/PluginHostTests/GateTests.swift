import Testing

@testable import PluginHost

@Suite struct GateTests {
  @Test func `refuses at once when the queue is full`() async throws {
    let gate = Gate(places: 1, queueLength: 0, patience: .seconds(60))
    try await gate.enter()
    await #expect(throws: PluginError.self) { try await gate.enter() }
    gate.leave()
    try await gate.enter()
  }

  @Test func `refuses when patience ends and keeps no place for who left`() async throws {
    let gate = Gate(places: 1, queueLength: 5, patience: .milliseconds(5))
    try await gate.enter()
    await #expect(throws: PluginError.self) { try await gate.enter() }
    gate.leave()
    try await gate.enter()
  }

  @Test func `lets the next one in when a place is free`() async throws {
    let gate = Gate(places: 1, queueLength: 5, patience: .seconds(60))
    try await gate.enter()
    let next = Task { try await gate.enter() }
    gate.leave()
    try await next.value
    await #expect(throws: PluginError.self) {
      try await Gate(places: 0, queueLength: 0, patience: .zero).enter()
    }
  }

  @Test func `keeps places for those who cannot wait`() async throws {
    let gate = Gate(places: 2, queueLength: 5, patience: .seconds(60))
    try await gate.enter(sparing: 1)
    let patient = Task { try await gate.enter(sparing: 1) }
    while gate.standing.waiting == 0, gate.standing.running == 1 { await Task.yield() }
    #expect(gate.standing.running == 1)
    #expect(gate.isEntered() && !gate.isEntered())
    gate.leave()
    #expect(gate.standing.waiting == 1)
    gate.leave()
    try await patient.value
    #expect(gate.standing.running == 1)
  }

  @Test func `is stuck while somebody wants in and nobody comes out`() async throws {
    let gate = Gate(places: 1, queueLength: 0, patience: .milliseconds(1))
    try await gate.enter()
    #expect(!gate.standing.isStuck, "nobody waits")
    await #expect(throws: PluginError.self) { try await gate.enter() }
    while !gate.standing.isStuck { await Task.yield() }
    #expect(gate.standing.running == 1 && gate.standing.refused == 1)
    gate.leave()
    #expect(!gate.standing.isStuck && gate.standing.running == 0)
  }
}
