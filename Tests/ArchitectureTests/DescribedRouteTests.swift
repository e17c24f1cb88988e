import Foundation
import Testing

/// The table of routes beside `openapi.json` and `docs/API.md`.
@Suite struct DescribedRouteTests {
  @Test func `every route is described, and nothing else is`() throws {
    let text = Repository.File(path: "Sources/Origin/openapi.json").text
    let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let paths = try #require(document?["paths"] as? [String: [String: Any]])
    let described = paths.flatMap { path, operations in
      operations.keys.filter { $0 != "parameters" && $0 != "head" }.map {
        "\($0.uppercased()) \(path.replacing(/\{\w+\}/, with: "{}"))"
      }
    }
    #expect(try routes().sorted() == described.sorted())
  }

  @Test func `every route is in a table of the document, and nothing else is`() throws {
    let rows = Repository.File(path: "docs/API.md").text.split(separator: "\n")
      .filter { $0.hasPrefix("| `") }
    let documented = rows.flatMap { row in
      row.split(separator: "|")[0].matches(of: /`([A-Z]+) (\/[^`]+)`/).map {
        "\($0.1) \($0.2.replacing(/<\w+>/, with: "{}"))"
      }
    }
    #expect(try routes().sorted() == documented.sorted())
  }

  @Test func `every error code is described and documented, and no other`() throws {
    let text = Repository.File(path: "Sources/Origin/openapi.json").text
    let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let components = document?["components"] as? [String: [String: [String: Any]]]
    let problem = components?["schemas"]?["Problem"]?["properties"] as? [String: [String: Any]]
    let described = try #require(problem?["code"]?["enum"] as? [String])
    let section = Repository.File(path: "docs/API.md").text.components(
      separatedBy: "## Error codes")
    let rows = try #require(section.last).split(separator: "\n").filter { $0.hasPrefix("| ") }
    let documented = rows.dropFirst().flatMap { row in
      row.matches(of: /`([a-z-]+)`/).map { String($0.1) }
    }
    #expect(documented.sorted() == described.sorted())
    let codes = Repository.File(path: "Sources/RichPushAPI/ServiceError.swift").text
      .matches(of: /\n    case (\w+)(?: = "([a-z-]+)")?\n/).map { String($0.2 ?? $0.1) }
    #expect(codes.count > 20)
    #expect(Set(codes).isSubset(of: described), "\(Set(codes).subtracting(described))")
  }

  /// The table of routes, as `GET /api/notifications/{}`.
  private func routes() throws -> [String] {
    let table = Repository.File(path: "Sources/Origin/Routes/RouteTable.swift").text
    let routes = table.matches(of: /Route\(\s*"([A-Z]+)", "([^"]+)"/).map { "\($0.1) \($0.2)" }
    #expect(routes.count == table.components(separatedBy: "Route(").count - 1)
    return routes
  }
}
