import Foundation
import Testing

/// The repository this test was built from.
enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A file of ours, by its path below the root.
  struct File: Sendable, CustomTestStringConvertible {
    let path: String

    var name: String { (path as NSString).lastPathComponent }
    var folder: String { (path as NSString).deletingLastPathComponent }
    var testDescription: String { path }
    var text: String {
      (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
    }
    /// The text without comments and the contents of strings.
    var code: String {
      let multiline = try? NSRegularExpression(pattern: "\"{3}[\\s\\S]*?\"{3}")
      let short = try? NSRegularExpression(pattern: #""(?:\\.|[^"\\\n])*"|//[^\n]*"#)
      return [multiline, short].reduce(text) { text, pattern in
        pattern?.stringByReplacingMatches(
          in: text, range: NSRange(text.startIndex..., in: text), withTemplate: "\"\"") ?? text
      }
    }
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
  }

  /// The files below some folders whose names end in one of these ways, in order.
  static func files(in folders: String..., endingIn endings: String...) -> [File] {
    folders.flatMap { folder -> [File] in
      let below = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      let paths = (below?.allObjects as? [String] ?? []).map { "\(folder)/\($0)" }
      return paths.filter { path in endings.contains { path.hasSuffix($0) } }.sorted().map(
        File.init)
    }
  }

  /// Everything we write in Swift.
  static var swift: [File] {
    files(in: "Sources", "plugins", "Tests", endingIn: ".swift") + [File(path: "Package.swift")]
  }
}
