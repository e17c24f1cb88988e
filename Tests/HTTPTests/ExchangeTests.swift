import Synchronization
import Testing

@testable import HTTP

@Suite struct ExchangeTests {
  @Test func `tells what became of every request`() async throws {
    let (seen, seeing) = AsyncStream<Exchange>.makeStream()
    let responder = Served.Answering { request in
      request.segments == ["slow"]
        ? .later(deadline: .seconds(10)) { .text(201, "slow") } : .now(.text(200, "hello"))
    }
    let server = try Server(
      ServerConfiguration(), responder: responder, log: { _ in },
      observer: Observer(readsRequest: true) { seeing.yield($0) })
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
