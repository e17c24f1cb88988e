import Dispatch
import FoundationEssentials
import Glibc
import Primitives
import Synchronization
import Testing
import Waiting

@testable import HTTP

// Uploads while no thread can save them. Other tests of the process would wait as well, so these take their turn with
// those of slow folders.
extension SlowFolderSystemTests {
  /// Keeps all threads busy that save bodies, from when it is made until ``end()``.
  private final class BusyThreads: Sendable {
    private let gate = DispatchSemaphore(value: 0)
    private let started = Mutex(0)
    private static let count = 16

    init() {
      for _ in 0..<Self.count {
        Task(executorPreference: BlockingExecutor.bodies) { [self] in
          started.withLock { $0 += 1 }
          wait()
        }
      }
    }

    private func wait() { gate.wait() }

    var areBusy: Bool { started.withLock { $0 } == Self.count }

    func end() { for _ in 0..<Self.count { gate.signal() } }
  }

  private static func saving(in folder: String) -> @Sendable (Request) -> ResponsePlan {
    { request in
      guard request.method == "PUT" else { return .immediate(.text(200, "quick")) }
      return .savingBody(limit: 1 << 30, folder: folder, deadline: .seconds(60)) { saved in
        .text(200, "\(saved.size)")
      }
    }
  }

  @Test func `an upload that cannot be written yet is not read further, and holds nobody up`()
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.path
    try await TestServer.with(Self.saving(in: folder), threads: 1) { served in
      let busy = BusyThreads()
      defer { busy.end() }
      try await eventually("all threads are busy") { busy.areBusy }
      let size = 64 << 20
      let client = RawClient(served.port)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
      // Until neither the server nor the kernel takes more for a while.
      let taken = client.sendWhileTaken([UInt8](repeating: 65, count: size))
      #expect(taken < size / 2, "the rest waits at the client")
      for _ in 0..<20 { #expect(RawClient(served.port).ask("GET", "/").text == "quick") }
      busy.end()
      #expect(client.send([UInt8](repeating: 65, count: size - taken)))
      #expect(client.reply().text == "\(size)")
    }
  }

  @Test func `a request behind an upload waits until that is saved`() async throws {
    let folder = FileManager.default.temporaryDirectory.path
    try await TestServer.with(Self.saving(in: folder), threads: 1) { served in
      let busy = BusyThreads()
      defer { busy.end() }
      try await eventually("all threads are busy") { busy.areBusy }
      let client = RawClient(served.port)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
      client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(RawClient(served.port).ask("GET", "/").text == "quick")
      busy.end()
      #expect(client.reply().text == "5")
      #expect(client.reply().text == "quick")
    }
  }
}
