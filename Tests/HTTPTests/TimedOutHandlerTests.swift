import Synchronization
import Testing

@testable import HTTP

/// What becomes of the work for a request whose deadline has passed: nobody waits for it any more.
@Suite(.timeLimit(.minutes(1))) struct TimedOutHandlerTests {
  /// Work that ends only when it is cancelled.
  private struct Work: Sendable {
    private let endings = AsyncStream<Bool>.makeStream()
    private let never = AsyncStream<Void>.makeStream()

    /// Runs until it is cancelled.
    func run() async {
      for await _ in never.stream {}
      endings.continuation.yield(Task.isCancelled)
    }

    /// Waits until it has ended, and returns whether it was cancelled.
    func wasCancelled() async -> Bool? {
      for await isCancelled in endings.stream { return isCancelled }
      return nil
    }
  }

  /// Work that does not end when it is cancelled.
  private final class StubbornWork: Sendable {
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)

    func run() async {
      await withCheckedContinuation { continuation in waiting.withLock { $0 = continuation } }
    }

    func end() { waiting.withLock { $0.take() }?.resume() }
  }

  private static func plan(
    _ request: Request, _ work: Work, in folder: String
  ) -> ResponsePlan {
    let deadline = Duration.milliseconds(1)
    return switch request.segments.first {
    case "deferred":
      .deferred(deadline: deadline) {
        await work.run()
        return .immediate(.empty(204))
      }
    case "collected":
      .collectingBody(limit: 9, deadline: deadline) { _ in
        await work.run()
        return .empty(204)
      }
    case "saved":
      .savingBody(limit: 9, folder: folder, deadline: deadline) { _ in
        await work.run()
        return .empty(204)
      }
    case "decided":
      // Without a body, the deadline of the decision is also that of what it decides.
      .deferred(deadline: deadline) {
        .asynchronous(deadline: .seconds(60)) {
          await work.run()
          return .empty(204)
        }
      }
    case "decided-body":
      .deferred(deadline: .seconds(60)) {
        .collectingBody(limit: 9, deadline: deadline) { _ in
          await work.run()
          return .empty(204)
        }
      }
    default:
      .asynchronous(deadline: deadline) {
        await work.run()
        return .empty(204)
      }
    }
  }

  @Test(arguments: [
    "asynchronous", "deferred", "decided", "collected", "saved", "decided-body",
  ])
  func `is cancelled, and the client gets a 503`(_ kind: String) async throws {
    let work = Work()
    let folder = Mutex("")
    try await TestServer.with({ request in
      Self.plan(request, work, in: folder.withLock { $0 })
    }) { served in
      folder.withLock { $0 = served.folder }
      let client = RawClient(served.port)
      let hasBody = ["collected", "saved", "decided-body"].contains(kind)
      let reply = client.ask(hasBody ? "PUT" : "GET", "/\(kind)", body: hasBody ? "body" : "")
      #expect(reply.status == 503 && reply.fields["retry-after"] == "1")
      #expect(await work.wasCancelled() == true)
    }
  }

  @Test func `its late response is not sent to the next request on the connection`() async throws {
    let (stubborn, next) = (StubbornWork(), AsyncStream.makeStream(of: Void.self))
    try await TestServer.with({ request in
      switch request.segments.first {
      case "late":
        .asynchronous(deadline: .milliseconds(1)) {
          await stubborn.run()
          return .text(200, "late")
        }
      case "next":
        .asynchronous(deadline: .seconds(60)) {
          for await _ in next.stream { break }
          return .text(200, "next")
        }
      default: .immediate(.text(200, "other"))
      }
    }) { served in
      let (client, other) = (RawClient(served.port), RawClient(served.port))
      #expect(client.ask("GET", "/late").status == 503)
      client.send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
      // In the meantime the late response arrives at the connection.
      for _ in 0..<20 {
        stubborn.end()
        #expect(other.ask("GET", "/other").text == "other")
      }
      next.continuation.yield()
      #expect(client.reply().text == "next")
    }
  }
}
