import Console
import Foundation
import PageParts
import TestSupport
import Testing

@testable import HTTP
@testable import Origin

/// `/console/`, and what its files may be.
@Suite(.timeLimit(.minutes(1))) struct ConsoleRoutesTests {
  private static let files = Array(ConsoleFiles.all) + Array(PagePartFiles.all)

  private func withConsole(
    _ body: @escaping @Sendable (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.test(
      prepare: { configuration, _ in configuration.hasConsole = true }, body)
  }

  @Test func `there is none if it is off`() async throws {
    try await TestServer.test { server in
      for path in ["/", "/console", "/console/", "/console/main.js"] {
        let status = try await server.execute("GET", path).status
        #expect(status == 404)
      }
    }
  }

  @Test func `the address of the server leads to it`() async throws {
    try await withConsole { server in
      let root = try await server.execute("GET", "/")
      #expect(root.status == 303 && root.fields["Location"] == "console/")
      let folder = try await server.execute("GET", "/console")
      #expect(folder.status == 308 && folder.fields["Location"] == "console/")
    }
  }

  @Test func `every file is served to everybody, restricted to itself, and 304 if it is known`()
    async throws
  {
    try await withConsole { server in
      for name in [""] + Self.files.map(\.key) {
        let file = try await server.execute("GET", "/console/" + name)
        #expect(file.status == 200 && file.fields["Cache-Control"] == "no-cache")
        let policy = try #require(file.fields["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; "))
        #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"))
        #expect(file.fields["Referrer-Policy"] == "no-referrer")
        #expect(file.fields["Cross-Origin-Opener-Policy"] == "same-origin")
        let etag = try #require(file.fields["ETag"])
        #expect(etag.hasPrefix("\""))
        let again = try await server.execute(
          "GET", "/console/" + name, fields: ["If-None-Match": etag])
        #expect(again.status == 304 && again.text == "")
      }
      for path in ["/console/none.js", "/console/%2e%2e", "/console/main.js/"] {
        let status = try await server.execute("GET", path).status
        #expect(status == 404)
      }
    }
  }

  /// Those of one language, all screens and both schemes together, without what only admins load.
  @Test func `its page is small for a browser`() async throws {
    try await withConsole { server in
      var bytes = 0
      for (name, _) in Self.files
      where !["app-", "attention-"].contains(where: name.hasPrefix) && !name.hasSuffix("de.js") {
        let file = try await server.execute(
          "GET", "/console/" + name, fields: ["Accept-Encoding": "gzip"])
        bytes += file.bytes.count
      }
      #expect((50_000...130_000).contains(bytes), "\(bytes)")
    }
  }

  @Test func `the files are few, all there, and make no markup of texts`() throws {
    for (module, files) in [("Console", ConsoleFiles.all), ("PageParts", PagePartFiles.all)] {
      let folder = URL(filePath: #filePath).appending(path: "../../../Sources/\(module)/Files")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.standardized.path)
      #expect(Set(names) == Set(files.map(\.key)))
    }
    // A page loads one of them.
    #expect(PagePartFiles.all.allSatisfy { $0.value.count <= 45_000 })
    for (name, bytes) in Self.files {
      let text = String(decoding: bytes, as: UTF8.self)
      for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
        #expect(!text.contains(word), "\(name)")
      }
      for match in text.matches(
        of: /(?:from |import |import\(|src: |href=|src=)"(?:\.\/)?([a-z-]+\.\w+)"/)
      {
        #expect(Self.files.contains { $0.key == match.1 }, "\(name) uses \(match.1)")
      }
      #expect(name != "index.html" || !text.contains("<script>") && !text.contains("style="))
    }
  }
}
