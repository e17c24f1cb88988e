import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct RouterTests {
  private let router = Router([
    ("GET", "/"), ("GET", "/api/notifications"), ("POST", "/api/notifications"),
    ("GET", "/api/notifications/{}"), ("PUT", "/api/notifications/{}/read"),
    ("GET", "/api/notifications/newest"), ("PUT", "/api/assets/{}/{}"),
  ])

  @Test(arguments: [
    ("GET", "/", "0 []"), ("GET", "/api/notifications?limit=3", "1 []"),
    ("HEAD", "/api/notifications", "1 []"), ("POST", "/api/notifications", "2 []"),
    ("GET", "/api/notifications/7", "3 [\"7\"]"),
    ("GET", "/api/notifications/newest", "5 []"),
    ("PUT", "/api/notifications/7/read", "4 [\"7\"]"),
    ("PUT", "/api/assets/img/a%2Fb", "6 [\"img\", \"a/b\"]"),
  ])
  func `finds the route and its parameters`(
    method: String, target: String, expected: String
  ) throws {
    guard case .found(let index, let parameters) = router.match(try Request(method, target)) else {
      Issue.record("nothing was found")
      return
    }
    #expect("\(index) \(parameters)" == expected)
  }

  @Test(
    arguments: [
      ("GET", "/nowhere", 404, nil), ("GET", "/api", 404, nil), ("OPTIONS", "/api", 404, nil),
      ("GET", "/api/notifications/", 404, nil), ("GET", "/api/notifications/7/read/on", 404, nil),
      ("DELETE", "/api/notifications", 405, "GET, HEAD, OPTIONS, POST"),
      ("GET", "/api/notifications/7/read", 405, "OPTIONS, PUT"),
      ("OPTIONS", "/api/notifications/7", 204, "GET, HEAD, OPTIONS"), ("OPTIONS", "*", 204, nil),
    ] as [(String, String, Int, String?)])
  func `responds to requests that have no route`(
    method: String, target: String, status: Int, allow: String?
  ) throws {
    guard case .answered(let response) = router.match(try Request(method, target)) else {
      Issue.record("a route was found")
      return
    }
    #expect(response.status == status)
    #expect(response.fields["Allow"] == allow)
  }

  @Test(
    arguments: [
      ("/api/notifications/7", "/api/notifications/{}"), ("/", "/"), ("/nowhere", nil),
    ] as [(String, String?)])
  func `names the pattern of a path, whatever the method`(path: String, pattern: String?) throws {
    #expect(router.pattern(of: try Request("DELETE", path)) == pattern)
  }
}
