import Foundation
import Testing

/// The source files of the records in one database engine.
struct StoreSources {
  /// The functions, by their names without parameters, and what their bodies contain.
  private var bodies: [String: String] = [:]

  /// Reads the files of tables in `Sources/Store/Records` and `Sources/Store/<engine>`, where `engine` is SQLite or
  /// PostgreSQL.
  init(_ engine: String) throws {
    for folder in ["Records", engine] {
      let store = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/Store/\(folder)")
      let files = try FileManager.default.contentsOfDirectory(
        at: store, includingPropertiesForKeys: nil)
      for file in files where file.lastPathComponent.contains("Tables+") {
        try add(String(contentsOf: file, encoding: .utf8))
      }
    }
    #expect(bodies.count > 50)
  }

  /// Functions begin with two spaces, and so do the braces that end them.
  private mutating func add(_ source: String) {
    let head = /^  (?:@\w+ )?(?:private |fileprivate |static )*func (\w+)/
    var name: String?
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      if let match = line.firstMatch(of: head) { name = String(match.1) }
      if let name { bodies[name, default: ""] += line + "\n" }
      if line == "  }" || name != nil && !line.hasPrefix("   ") && line.hasSuffix(" }") {
        name = nil
      }
    }
  }

  /// The requirements of the records' protocols that change the database, themselves or by a function they call.
  func writingFunctions() throws -> Set<String> {
    var writing = Set(
      bodies.filter { $0.value.contains(/database\s*\.(write|writeSoon|run)\b/) }.keys)
    let calls = bodies.mapValues { body in
      Set(body.matches(of: /(\w+)\(/).map { String($0.1) })
    }
    while true {
      let callers = calls.filter { name, called in
        !writing.contains(name) && !called.isDisjoint(with: writing)
      }
      if callers.isEmpty { break }
      writing.formUnion(callers.keys)
    }
    return writing.intersection(try Self.requirements())
  }

  /// The functions of the protocols in `Sources/Store/Records` that tables have, not of those of an engine.
  private static func requirements() throws -> Set<String> {
    let records = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/Store/Records")
    let files = try FileManager.default.contentsOfDirectory(
      at: records, includingPropertiesForKeys: nil)
    return try files.reduce(into: []) { names, file in
      let source = try String(contentsOf: file, encoding: .utf8)
      for found in source.matches(of: /(?ms)^(?:package )?protocol (\w+).*?^}/)
      where !["Engine", "EngineTables", "Queryable", "Changing"].contains(found.output.1) {
        names.formUnion(found.output.0.matches(of: /(?m)^  func (\w+)/).map { String($0.1) })
      }
    }
  }
}
