import Foundation
import Testing

/// Names of types across modules, and the folders inside a module.
@Suite(.timeLimit(.minutes(1))) struct NameTests {
  /// A type at the top level of a file.
  private struct Declaration {
    let name: String
    let module: String
    /// The file's folder, relative to the module's.
    let folder: String
  }

  private static func files() -> [String: [Repository.File]] {
    Dictionary(grouping: Repository.files(in: "Sources", "plugins", endingIn: ".swift")) {
      $0.path.split(separator: "/").prefix(2).joined(separator: "/")
    }.filter { $0.key != "plugins/examples" }
  }

  private static func declarations(
    in module: String, _ files: [Repository.File]
  ) throws -> [Declaration] {
    let pattern = try Pattern(
      #"^(?:(?:@\w+(?:\([^)\n]*\))?|\w+)\s+)*(?:struct|class|enum|protocol|actor|typealias) (\w+)"#)
    return files.flatMap { file in
      pattern.matches(in: file.code).map {
        Declaration(name: $0, module: module, folder: String(file.folder.dropFirst(module.count)))
      }
    }
  }

  @Test func `no top-level type has the same name in two modules`() throws {
    let all = try Self.files().flatMap { try Self.declarations(in: $0.key, $0.value) }
    #expect(all.count > 300)
    for (name, found) in Dictionary(grouping: all, by: \.name) {
      let modules = Set(found.map(\.module))
      #expect(modules.count == 1, "\(name) is in \(modules.sorted())")
    }
  }

  /// A folder uses another when it names one of its types.
  ///
  /// Files directly in a module's folder, which
  /// define its main type or put its parts together, belong to no folder.
  @Test func `no folders of a module use each other in a circle`() throws {
    for (module, files) in Self.files() {
      let folders = Dictionary(
        try Self.declarations(in: module, files).map { ($0.name, $0.folder) }
      ) { first, _ in first }
      let word = try Pattern(#"\b([A-Z]\w+)\b"#)
      var uses: [String: [String: String]] = [:]
      for file in files {
        let folder = String(file.folder.dropFirst(module.count))
        for name in word.matches(in: file.code) {
          guard let other = folders[name], other != folder, other != "", folder != "" else {
            continue
          }
          uses[folder, default: [:]][other] = "\(name) in \(file.name)"
        }
      }
      var rest = Set(uses.keys).union(folders.values)
      while let bottom = rest.first(where: { rest.isDisjoint(with: uses[$0, default: [:]].keys) }) {
        rest.remove(bottom)
      }
      let circle = rest.sorted().map { folder in
        "\(folder) uses \(uses[folder, default: [:]].filter { rest.contains($0.key) })"
      }
      #expect(circle == [], "\(module)")
    }
  }

  /// The drop folder's `outbox` is called the publish folder everywhere but in its path.
  @Test func `outbox means the table of pushes that are to be sent`() throws {
    let word = try Pattern(#"\b(\w*[oO]utbox\w*)\b"#)
    for file in Repository.files(in: "Sources/Intake", "Sources/Media", endingIn: ".swift") {
      #expect(word.matches(in: file.code) == [], "\(file.path)")
    }
  }
}
