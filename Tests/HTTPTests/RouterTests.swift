import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct RouterTests {
  private let router = Router<String>([
    Route("GET", handler: "root"),
    Route("GET", "api", "notifications", handler: "list"),
    Route("POST", "api", "notifications", handler: "create"),
    Route("GET", "api", "notifications", .parameter, handler: "fetch"),
    Route("PUT", "api", "notifications", .parameter, "read", handler: "mark"),
    Route("GET", "api", "notifications", "newest", handler: "newest"),
    Route("PUT", "api", "assets", .parameter, .parameter, handler: "upload"),
  ])

  @Test(arguments: [
    ("GET", "/", "root []"), ("GET", "/api/notifications?limit=3", "list []"),
    ("HEAD", "/api/notifications", "list []"), ("POST", "/api/notifications", "create []"),
    ("GET", "/api/notifications/7", "fetch [\"7\"]"),
    ("GET", "/api/notifications/newest", "newest []"),
    ("PUT", "/api/notifications/7/read", "mark [\"7\"]"),
    ("PUT", "/api/assets/img/a%2Fb", "upload [\"img\", \"a/b\"]"),
  ])
  func `finds the handler and its parameters`(
    method: String, target: String, expected: String
  ) throws {
    guard case .found(let handler, let parameters, _) = router.match(try Request(method, target))
    else {
      Issue.record("nothing was found")
      return
    }
    #expect("\(handler) \(parameters)" == expected)
  }

  @Test(
    arguments: [
      ("GET", "/nowhere", 404, nil), ("GET", "/api", 404, nil), ("OPTIONS", "/api", 404, nil),
      ("GET", "/api/notifications/", 404, nil), ("GET", "/api/notifications/7/read/on", 404, nil),
      ("DELETE", "/api/notifications", 405, "GET, HEAD, OPTIONS, POST"),
      ("GET", "/api/notifications/7/read", 405, "OPTIONS, PUT"),
      ("OPTIONS", "/api/notifications/7", 204, "GET, HEAD, OPTIONS"), ("OPTIONS", "*", 204, nil),
    ] as [(String, String, Int, String?)])
  func `answers requests that have no handler`(
    method: String, target: String, status: Int, allow: String?
  ) throws {
    guard case .answered(let response) = router.match(try Request(method, target)) else {
      Issue.record("a handler was found")
      return
    }
    #expect(response.status == status)
    #expect(response.fields["Allow"] == allow)
  }

  @Test func `writes a route's path as a pattern`() {
    #expect(Route("PUT", "api", "assets", .parameter, handler: 0).pattern == "/api/assets/{}")
  }
}
