import Synchronization
import Testing
import Primitives

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct AccessRecordTests {
  @Test func `records the outcome of every request`() async throws {
    let (seen, seeing) = AsyncStream<AccessRecord>.makeStream()
    let responder = TestServer.ClosureResponder { request in
      request.segments == ["slow"]
        ? .asynchronous(deadline: .seconds(10)) { .text(201, "slow") }
        : .immediate(.text(200, "hello"))
    }
    let server = try Server(
      ServerConfiguration(), responder: responder, log: .silent,
      observer: AccessObserver(recordsCached: true) { seeing.yield($0) })
    let client = RawClient(server.port)
    for target in ["/quick", "/slow", "/%00"] { _ = client.ask("GET", target) }
    var exchanges = seen.makeAsyncIterator()
    let (quick, slow, bad) = (
      await exchanges.next(), await exchanges.next(), await exchanges.next()
    )
    #expect(quick?.request?.target == "/quick")
    #expect(quick?.status == 200)
    #expect(quick?.bytes == 5)
    #expect(quick?.isComplete == true)
    #expect(slow?.status == 201)
    #expect(slow.map { $0.nanoseconds > 0 } == true)
    #expect(bad?.status == 400)
    #expect(bad?.request == nil)
    #expect(bad?.peer == "127.0.0.1")
    await server.stop(grace: .zero)
  }
}
