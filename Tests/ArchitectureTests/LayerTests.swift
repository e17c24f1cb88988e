import Foundation
import Testing

/// The floor plan of `docs/ARCHITECTURE.md`: who may know whom.
@Suite struct LayerTests {
  /// A room, the folder it lives in, and the modules of ours it may import.
  struct Room: Sendable, CustomTestStringConvertible {
    let folder: String
    let mayImport: Set<String>
    var testDescription: String { folder }

    init(_ folder: String, _ mayImport: String...) {
      self.folder = folder
      self.mayImport = Set(mayImport)
    }
  }

  static let rooms = [
    Room(
      "Sources/richpush", "Origin", "PluginBench", "PluginHost", "RichPushClient", "MediaTypes"),
    Room("Sources/PluginBench", "PluginHost", "MediaTypes"),
    Room(
      "Sources/Origin", "Store", "Push", "PluginHost", "MediaTypes", "HTTP", "CLinux", "CGnuTLS",
      "CCrypt"),
    Room("Sources/Store", "CSQLite", "CGnuTLS", "CLinux"),
    Room("Sources/Push", "HTTP", "CCurl", "CGnuTLS", "CLinux"),
    Room("Sources/PluginHost", "HTTP", "CGnuTLS", "CLinux"),
    Room("Sources/MediaTypes"),
    Room("Sources/HTTP", "CGnuTLS", "CLinux"),
    Room("Sources/RichPushClient", "CCurl"),
    Room("Sources/PluginKit"),
    Room("Sources/Imaging", "CCodecs"),
    Room("plugins/img", "Imaging", "MediaTypes", "PluginKit"),
    Room("plugins/sound", "CSound", "Imaging", "MediaTypes", "PluginKit"),
    Room("plugins/url", "MediaTypes", "PluginKit", "CCurl", "CLinux"),
  ]

  private static let foreign: Set = [
    "Foundation", "FoundationEssentials", "FoundationNetworking", "Glibc", "Dispatch",
    "Synchronization",
  ]

  @Test(arguments: rooms)
  func `imports nothing but what stands below it`(room: Room) throws {
    let files = Repository.files(in: room.folder, endingIn: ".swift")
    #expect(!files.isEmpty)
    for file in files {
      let strangers = Set(try imports(of: file)).subtracting(Self.foreign).subtracting(
        room.mayImport)
      #expect(strangers.isEmpty, "\(file.path) imports \(strangers.sorted())")
    }
  }

  @Test func `has a line in the table for every room`() {
    let folders = Repository.files(in: "Sources", "plugins", endingIn: ".swift")
      .filter { !$0.path.hasPrefix("plugins/examples/") }
      .map { $0.path.split(separator: "/").prefix(2).joined(separator: "/") }
    #expect(Set(folders) == Set(Self.rooms.map(\.folder)))
  }

  @Test func `starts processes in one place`() {
    let starting = Repository.files(in: "Sources", endingIn: ".swift")
      .filter { $0.text.contains(" Process()") }.map(\.path)
      // What an author or somebody with a screen types is no part of the server.
      .filter { !$0.hasPrefix("Sources/richpush/Client/") && !$0.hasPrefix("Sources/PluginBench/") }
    #expect(starting == ["Sources/PluginHost/Processes/Forker.swift"])
  }

  @Test func `keeps Foundation out of plugins and what they stand on`() throws {
    let files = Repository.files(
      in: "plugins", "Sources/PluginKit", "Sources/MediaTypes", "Sources/Imaging",
      endingIn: ".swift")
    for file in files {
      #expect(
        try !imports(of: file).contains("Foundation"), "\(file.path) starts five times slower")
    }
  }

  @Test func `reads an import however it is written`() throws {
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

  /// What stands between triple quotes is another program's text.
  private func imports(of file: Repository.File) throws -> [String] {
    let pieces = file.text.components(separatedBy: String(repeating: "\"", count: 3))
    return try imports(
      in: pieces.enumerated().filter { $0.offset % 2 == 0 }.map(\.element).joined())
  }

  private func imports(in text: String) throws -> [String] {
    let kinds = "struct|class|enum|protocol|func|var|let|typealias"
    return try Pattern(#"^\s*(?:[@\w]+ )*import (?:(?:\#(kinds)) )?(\w+)"#).matches(in: text)
  }
}
