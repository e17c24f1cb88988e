import Primitives
import Synchronization
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct CrossOriginTests {
  private func asked(_ origins: Set<String>, _ fields: [String], _ method: String = "GET")
    async throws -> RawClient.Reply
  {
    var configuration = ServerConfiguration()
    configuration.allowedOrigins = origins
    let server = try Server(
      configuration,
      responder: TestServer.ClosureResponder { _ in .immediate(.text(200, "hello")) },
      log: .silent)
    let client = RawClient(server.port)
    let lines = (["Host: x"] + fields).map { $0 + "\r\n" }.joined()
    client.send("\(method) / HTTP/1.1\r\n\(lines)\r\n")
    let reply = client.reply()
    await server.stop(grace: .zero)
    return reply
  }

  @Test func `sends no CORS fields unless origins are allowed`() async throws {
    let reply = try await asked([], ["Origin: https://app.example"])
    #expect(reply.status == 200)
    #expect(!reply.head.lowercased().contains("access-control"))
    #expect(reply.fields["vary"] == nil)
    #expect(reply.fields["cross-origin-resource-policy"] == "same-origin")
  }

  @Test func `lets pages of an allowed origin read, and no others`() async throws {
    let named = try await asked(["https://app.example"], ["Origin: https://app.example"])
    #expect(named.fields["access-control-allow-origin"] == "https://app.example")
    #expect(named.fields["vary"] == "Origin")
    #expect(named.fields["cross-origin-resource-policy"] == "cross-origin")
    let other = try await asked(["https://app.example"], ["Origin: https://evil.example"])
    #expect(other.fields["access-control-allow-origin"] == nil)
    #expect(other.fields["vary"] == "Origin")
    #expect(other.fields["cross-origin-resource-policy"] == "same-origin")
    let none = try await asked(["https://app.example"], [])
    #expect(none.fields["vary"] == "Origin", "a cache must not send it to pages of other origins")
    let anybody = try await asked(["*"], ["Origin: https://evil.example"])
    #expect(anybody.fields["access-control-allow-origin"] == "*")
  }

  @Test(arguments: [("If-Match: \"other\"", 412), ("Range: bytes=5000-", 416)])
  func `says once that a refusal of a file depends on the origin`(
    field: String, status: Int
  ) async throws {
    let content = Mutex<Content?>(nil)
    try await TestServer.with(
      { _ in .immediate(content.withLock { $0 }.map { .content($0) } ?? .empty(404)) },
      allowedOrigins: ["https://app.example"]
    ) { served in
      let made = try TestServer.content(TestServer.pattern, in: served.folder)
      content.withLock { $0 = made }
      let reply = RawClient(served.port).ask("GET", "/", field, "Origin: https://app.example")
      #expect(reply.status == status)
      #expect(reply.fields["vary"] == "Origin")
      #expect(reply.fields["access-control-allow-origin"] == "https://app.example")
    }
  }

  @Test func `answers preflight requests`() async throws {
    let fields = ["Origin: https://app.example", "Access-Control-Request-Method: PUT"]
    let reply = try await asked(["https://app.example"], fields, "OPTIONS")
    #expect(reply.status == 204)
    #expect(reply.fields["access-control-allow-methods"]?.contains("PUT") == true)
    #expect(reply.fields["access-control-allow-headers"]?.contains("Authorization") == true)
    #expect(reply.fields["access-control-allow-origin"] == "https://app.example")
  }
}
