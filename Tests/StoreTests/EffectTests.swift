import FoundationEssentials
import Synchronization
import Testing
import Waiting

@testable import Store

/// What follows a commit, on the node that has made it and on the others.
@Suite(.timeLimit(.minutes(5))) struct EffectTests {
  private let scratch = Scratch()
  private let otherScratch = Scratch()

  @Test func `each function that writes has the effects in the table, on every node`()
    async throws
  {
    let store = try scratch.open()
    let (first, mark) = (try await store.addMark("first"), try await store.addMark("mark"))
    let own = Heard(by: store, mark: mark)
    let other = try scratch.database().map { database in
      try Store(folder: otherScratch.folder, database: database, now: { [scratch] in scratch.now })
    }
    let others = other.map { Heard(by: $0, mark: mark) }
    // A node that has just started does not listen yet.
    try await eventually("it listens") {
      try await store.tell(first)
      return others?.effects.contains(.credentialsEnded(first)) != false
    }
    for function in WritingFunction.all {
      let call = try await function.prepare(store, scratch)
      try await store.tell(mark)
      try await others?.hear(mark: own.marks)
      for heard in [own, others] { heard?.forget() }
      try await call.body(store)
      // Behind it also what nobody waits for.
      try await store.tell(mark)
      #expect(own.effects == call.effects, "\(function.name)")
      guard let others else { continue }
      try await others.hear(mark: own.marks, and: call.effects.filter(\.isOfJobs))
      #expect(
        others.effects.filter { !$0.isOfJobs } == call.effects.filter { !$0.isOfJobs },
        "\(function.name)")
    }
  }

  @Test func `the table has each function that writes`() throws {
    let known = Set(WritingFunction.all.map(\.name))
    for engine in ["SQLite", "PostgreSQL"] {
      let writing = try StoreSources(engine).writingFunctions()
      #expect(writing.count > 40)
      #expect(writing.subtracting(known) == [], "\(engine)")
    }
  }

  @Test func `a change that fails has no effects, and those committed with it have theirs`()
    async throws
  {
    let store = try scratch.open()
    let own = Heard(by: store, mark: nil)
    await store.commitWithFailure()
    #expect(own.effects == [.credentialsEnded(alice), .credentialsEnded(carol)])
  }

  @Test func `all observers of one kind are called, in their order`() {
    let observers = Observers<Int>()
    let called = Mutex<[String]>([])
    for name in ["first", "second"] {
      observers.add { value in called.withLock { $0.append("\(name) \(value)") } }
    }
    observers(7)
    #expect(called.withLock { $0 } == ["first 7", "second 7"])
  }
}

extension Store {
  /// Adds a user whose credentials end behind each change.
  fileprivate func addMark(_ name: String) async throws -> UserID {
    try await accounts.addUser(name, hash: "", role: .device)
    return try #require(try await accounts.user(named: name)).id
  }

  fileprivate func tell(_ mark: UserID) async throws {
    _ = try await administration.endCredentials(of: mark)
  }
}

extension Effect {
  /// Other nodes hear of jobs a moment later.
  fileprivate var isOfJobs: Bool { if case .jobs = self { true } else { false } }
}

/// The effects with which the observers of a node were called.
private final class Heard: Sendable {
  private struct State {
    var effects: Set<Effect> = []
    var users: Set<UserID> = []
    var marks = 0
  }

  private let state = Mutex(State())

  /// Hears of all effects, but counts those of ending the credentials of `mark`.
  init(by store: Store, mark: UserID?) {
    let observers = store.observers
    observers.onPushEvents.add { [self] users in state.withLock { $0.users.formUnion(users) } }
    observers.onCredentialsEnded.add { [self] user in
      if user == mark { state.withLock { $0.marks += 1 } } else { add(.credentialsEnded(user)) }
    }
    observers.onChange.add { [self] in add(.change($0)) }
    observers.onRead.add { [self] in add(.read($0)) }
    observers.onAssetEvent.add { [self] in add(.assetEvent) }
    observers.onTicketKeys.add { [self] in add(.ticketKeys) }
    observers.onEverything.add { [self] in add(.everything) }
    observers.onJobs.add { [self] lanes in for lane in lanes { add(.jobs(lane: lane)) } }
  }

  private func add(_ effect: Effect) { state.withLock { _ = $0.effects.insert(effect) } }

  var marks: Int { state.withLock { $0.marks } }

  var effects: Set<Effect> {
    state.withLock { state in
      state.users.isEmpty
        ? state.effects : state.effects.union([.pushEvents(state.users.sorted())])
    }
  }

  func forget() { state.withLock { ($0.effects, $0.users) = ([], []) } }

  /// Returns when a mark was heard, and some effects.
  func hear(mark: Int, and expected: Set<Effect> = []) async throws {
    try await eventually("\(expected) are heard") {
      marks >= mark && expected.isSubset(of: effects)
    }
  }
}
