import Foundation
import Testing

/// What the documents promise exists.
@Suite struct DocumentTests {
  static let documents =
    [Repository.File(path: "README.md")]
    + Repository.files(in: "docs", "plugins", endingIn: ".md")

  @Test(arguments: documents)
  func `leads every link of ours to a file`(document: Repository.File) throws {
    #expect(!document.text.isEmpty)
    for target in try targets(of: document) where !target.contains("://") && !target.hasPrefix("#")
    {
      let path = target.prefix { $0 != "#" }
      let file = Repository.root.appending(path: document.folder).appending(path: path)
      #expect(FileManager.default.fileExists(atPath: file.path), "\(document.path): \(target)")
    }
  }

  @Test func `names only make targets that exist`() throws {
    let makefile = Repository.File(path: "Makefile").text
    for document in Self.documents {
      for target in try Pattern("`make ([a-z]+)").matches(in: document.text) {
        #expect(makefile.contains("\n\(target):"), "\(document.path): make \(target)")
      }
    }
  }

  @Test func `shows each call of the client in JavaScript`() throws {
    let document = Repository.File(path: "docs/CLIENTS.md").text
    let client = Repository.File(path: "Sources/WebApp/Files/client.js").text
    let calls = try Pattern(#"(?:^|\n) {4}(?:static )?(?:async )?\*?(\w+)\("#).matches(in: client)
    #expect(calls.count > 20)
    for call in calls where call != "constructor" {
      #expect(
        document.contains("client.\(call)(") || document.contains("RichPush.\(call)("), "\(call)")
    }
  }

  private func targets(of document: Repository.File) throws -> [String] {
    try Pattern(#"\]\(([^)\s]+)\)|(?:src|href)="([^"]+)""#).matches(in: document.text)
  }
}
