import Foundation
import Testing

/// The table of routes beside `openapi.json`.
@Suite struct DescribedRouteTests {
  @Test func `every route is described, and nothing else is`() throws {
    let table = Repository.File(path: "Sources/Origin/Routes/API.swift").text
    let route = /Route\(\s*"(?<method>[A-Z]+)"(?<path>(?:,\s*(?:"[^"]+"|\.parameter))*)/
    let routes = table.matches(of: route).map { match in
      let path = match.path.matches(of: /"(?<literal>[^"]+)"|\.parameter/).map {
        "/" + ($0.literal.map(String.init) ?? "{}")
      }
      return "\(match.method) \(path.joined())"
    }
    #expect(routes.count == table.components(separatedBy: "Route(").count - 1)
    let text = Repository.File(path: "Sources/Origin/Description/openapi.json").text
    let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let paths = try #require(document?["paths"] as? [String: [String: Any]])
    let described = paths.flatMap { path, operations in
      operations.keys.filter { $0 != "parameters" && $0 != "head" }.map {
        "\($0.uppercased()) \(path.replacing(/\{\w+\}/, with: "{}"))"
      }
    }
    #expect(routes.sorted() == described.sorted())
  }
}
