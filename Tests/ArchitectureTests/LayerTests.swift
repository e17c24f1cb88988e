import Foundation
import Testing

/// The graph of modules, of which `docs/ARCHITECTURE.md` has a diagram.
@Suite(.timeLimit(.minutes(1))) struct LayerTests {
  /// A module's folder, and the modules of this package that its files import: these and no others.
  struct Module: Sendable, CustomTestStringConvertible {
    let folder: String
    let imports: Set<String>
    var name: String { (folder as NSString).lastPathComponent }
    var testDescription: String { folder }

    init(_ folder: String, _ imports: String...) {
      self.folder = folder
      self.imports = Set(imports)
    }
  }

  static let modules = [
    Module(
      "Sources/richpush", "Origin", "Delivery", "Intake", "Media", "PluginTester", "PluginHost",
      "RichPushAPI",
      "RichPushClient", "MediaTypes", "Primitives"),
    Module(
      "Sources/PluginTester", "PluginHost", "MediaTypes", "JSON", "Primitives", "CLibraries"),
    Module("Sources/Primitives"),
    Module("Sources/JSON"),
    Module("Sources/RichPushAPI", "JSON"),
    Module("Sources/Console"),
    Module("Sources/WebApp"),
    Module("Sources/PageParts"),
    Module(
      "Sources/Origin", "WebApp", "Console", "PageParts", "Delivery", "Intake", "Media", "Store",
      "Push", "OpenID", "PluginHost", "HTTP", "MediaTypes", "RichPushAPI", "Primitives",
      "CLibraries"),
    Module(
      "Sources/Delivery", "Intake", "Media", "Store", "Push", "PluginHost", "RichPushAPI",
      "Primitives"),
    Module(
      "Sources/Intake", "Media", "Store", "PluginHost", "MediaTypes", "RichPushAPI", "Primitives",
      "CLibraries"),
    Module(
      "Sources/Media", "Store", "PluginHost", "MediaTypes", "RichPushAPI", "Primitives",
      "CLibraries"),
    Module("Sources/S3", "Primitives", "CCurl", "CLibraries"),
    Module("Sources/OpenID", "JSON", "Primitives", "CCurl", "CLibraries"),
    Module("Sources/Store", "S3", "Primitives", "CLibraries"),
    Module("Sources/Push", "RichPushAPI", "Primitives", "CCurl", "CLibraries"),
    Module("Sources/PluginHost", "JSON", "Primitives", "CLibraries"),
    Module("Sources/MediaTypes", "Primitives"),
    Module("Sources/HTTP", "Primitives", "CLibraries"),
    Module("Sources/RichPushClient", "RichPushAPI", "CCurl", "Primitives"),
    Module("Sources/PluginKit", "Primitives"),
    Module("Sources/Imaging", "CCodecs", "MediaTypes", "Primitives"),
    Module("plugins/img", "Imaging", "MediaTypes", "PluginKit", "Primitives"),
    Module("plugins/sound", "CSound", "Imaging", "MediaTypes", "PluginKit", "Primitives"),
    Module("plugins/url", "JSON", "MediaTypes", "PluginKit", "Primitives", "CCurl"),
    Module("plugins/video", "Imaging", "JSON", "MediaTypes", "PluginKit", "Primitives"),
  ]

  private static let system: Set = [
    "Foundation", "FoundationEssentials", "Glibc", "Dispatch",
    "Synchronization", "UserNotifications",
  ]
  /// The parts of the target `CLibraries`, each a module of its own in its module map.
  private static let cLibraries: Set = [
    "CCrypt", "CLinux", "COpenSSL", "CPostgres", "CQRCode", "CSQLite", "CUnistring",
    "CVersions", "CZlib",
  ]

  @Test(arguments: modules)
  func `imports what the graph says, and all of it`(module: Module) throws {
    let files = Repository.files(in: module.folder, endingIn: ".swift")
    try #require(!files.isEmpty)
    var imported: Set<String> = []
    for file in files {
      let ours = Set(try imports(of: file)).subtracting(Self.system)
        .map { Self.cLibraries.contains($0) ? "CLibraries" : $0 }
      let strangers = Set(ours).subtracting(module.imports)
      #expect(strangers.isEmpty, "\(file.path) imports \(strangers.sorted())")
      imported.formUnion(ours)
    }
    #expect(module.imports.subtracting(imported).isEmpty, "no file imports it")
  }

  @Test(arguments: modules)
  func `depends in Package.swift on what the graph says`(module: Module) throws {
    let text = Repository.File(path: "Package.swift").text
    let name = module.name
    let start = try #require(
      ["(\"\(name)\"", "(\n      \"\(name)\"", "(\n      name: \"\(name)\""].lazy
        .compactMap { text.range(of: $0) }.first)
    // The lines of an entry are indented further than its first.
    let lines = text[start.upperBound...].components(separatedBy: "\n    ")
    let entry = lines.dropFirst().prefix { $0.hasPrefix("  ") }.reduce(lines[0], +)
    let names = Set(Self.modules.map(\.name)).union(["CLibraries", "CCodecs", "CCurl", "CSound"])
    let declared = try Pattern("\"(\\w+)\"").matches(in: entry)
      .filter(names.contains)
    #expect(Set(declared) == module.imports)
  }

  @Test func `has an entry for every module`() {
    let folders = Repository.files(in: "Sources", "plugins", endingIn: ".swift")
      .filter { !$0.path.hasPrefix("plugins/examples/") }
      .map { $0.path.split(separator: "/").prefix(2).joined(separator: "/") }
    #expect(Set(folders) == Set(Self.modules.map(\.folder)))
  }

  @Test func `has no circle`() {
    var rest = Self.modules
    while true {
      let names = Set(rest.map(\.name))
      let bottom = rest.filter { $0.imports.isDisjoint(with: names) }
      if bottom.isEmpty { break }
      rest.removeAll { module in bottom.contains { $0.folder == module.folder } }
    }
    #expect(rest.map(\.name) == [])
  }

  @Test func `keeps SQL in the records, and in one folder for each database`() throws {
    let statement = try Pattern(
      #"^(?:.*")?\s*((?:SELECT|INSERT|UPDATE|DELETE|PRAGMA|VACUUM|CREATE) [\w\\(*])"#)
    let files = Repository.files(in: "Sources", "plugins", endingIn: ".swift")
      .filter { !statement.matches(in: $0.text).isEmpty }
    let folders = ["Records", "SQLite", "PostgreSQL"].map { "Sources/Store/\($0)" }
    #expect(Set(files.map(\.folder)) == Set(folders))
  }

  /// By Foundation's `Process`, of which the server makes one at its start (`PluginLauncher`).
  @Test func `starts programs in one module`() throws {
    let start = try Pattern(#"\b(?:Process\(\)|Process\.run\(|posix_spawnp?\(|v?fork\()"#)
    let starting = Repository.files(in: "Sources", endingIn: ".swift")
      .filter { !start.matches(in: $0.code).isEmpty }
    #expect(
      Set(starting.map(\.path)) == [
        "Sources/PluginHost/Processes/Launcher.swift", "Sources/PluginHost/Processes/Program.swift",
      ])
  }

  @Test func `asks libcurl for requests only so that no write raises SIGPIPE`() throws {
    let call = try Pattern(#"\bcurl_easy_(?:perform|cleanup)\b"#)
    let calling = Repository.files(in: "Sources", "plugins", endingIn: ".swift")
      .filter { !call.matches(in: $0.code).isEmpty }
    #expect(calling.map(\.path) == [], "ccurl_perform and ccurl_free")
  }

  /// All the rest needs only FoundationEssentials, and behaves alike in a client, which has no ICU.
  @Test func `imports the whole of Foundation only where it starts programs`() throws {
    let line = try Pattern(#"(?:^|\n)(?:#else\n)?\s*(?:public |package )?(import Foundation)\n"#)
    for file in Repository.files(in: "Sources", endingIn: ".swift")
    where !file.path.hasSuffix("+Darwin.swift") {
      let linux = file.text.replacing(/#else\n.*?#endif/.dotMatchesNewlines(), with: "")
      #expect(
        line.matches(in: linux).isEmpty || file.text.contains("= Process()"), "\(file.path)")
    }
  }

  @Test func `keeps Foundation out of plugins and the modules below them`() throws {
    let files = Repository.files(
      in: "plugins", "Sources/PluginKit", "Sources/MediaTypes", "Sources/Imaging", "Sources/JSON",
      "Sources/Primitives", endingIn: ".swift"
    ).filter { !$0.path.hasPrefix("plugins/examples/") }
    for file in files {
      let imports = try imports(of: file)
      #expect(
        !imports.contains("Foundation") && !imports.contains("FoundationEssentials"),
        "\(file.path): a plugin with FoundationEssentials is half as large again")
    }
  }

  @Test func `recognises an import in every form`() throws {
    let text = """
      import A
      public import B
      @testable import C
      @preconcurrency package import D
        import E
      import struct F.G
      // import H
      """
    #expect(try imports(in: text) == ["A", "B", "C", "D", "E", "F"])
  }

  private func imports(of file: Repository.File) throws -> [String] {
    try imports(in: file.code)
  }

  private func imports(in text: String) throws -> [String] {
    let kinds = "struct|class|enum|protocol|func|var|let|typealias"
    return try Pattern(#"^\s*(?:[@\w]+ )*import (?:(?:\#(kinds)) )?(\w+)"#).matches(in: text)
  }
}
