import FoundationEssentials
import PluginHost
import Primitives

/// A new plugin's folder: a working program, its manifest, a sample and a test.
///
/// The texts are in the folder `Templates`; in each of them `NAME` is replaced by the rich type.
package struct Scaffold: Sendable {
  /// The languages with a template, and their programs, which are equivalent: each returns a card with the
  /// payload as its text, and refuses an empty payload.
  private static let programs: KeyValuePairs = [
    "sh": PackageResources.card_sh, "python": PackageResources.card_py,
    "perl": PackageResources.card_pl, "php": PackageResources.card_php,
    "swift": PackageResources.card_swift_txt,
  ]

  private let name: String
  private let program: [UInt8]
  private let isSwift: Bool

  /// Creates the description of a plugin for a rich type.
  ///
  /// - Parameters:
  ///   - name: The rich type.
  ///   - language: `sh`, `python`, `perl`, `php` or `swift`.
  /// - Throws: ``PluginTester/Problem`` when the name or the language is not valid.
  package init(_ name: String, language: String) throws(PluginTester.Problem) {
    guard Plugin.isValidName(name) else {
      throw PluginTester.Problem(
        reason:
          "a rich type is a lowercase letter and up to 31 lowercase letters, digits and hyphens, "
          + "not '\(name)'")
    }
    guard let program = Self.programs.first(where: { $0.key == language })?.value else {
      let names = Self.programs.map(\.key).joined(separator: ", ")
      throw PluginTester.Problem(reason: "--language must be one of \(names), not '\(language)'")
    }
    (self.name, self.program, isSwift) = (name, program, language == "swift")
  }

  /// Writes the folder `name` into the folder `plugins`, and compiles a plugin in Swift; `launcher` is the path of
  /// `richpush-exec`.
  ///
  /// - Returns: The paths of its files, the program first.
  /// - Throws: ``PluginTester/Problem`` when the plugin exists, a file cannot be written, or the build fails.
  package func write(
    into plugins: String, launcher: String
  ) throws(PluginTester.Problem) -> [String] {
    let folder = URL(fileURLWithPath: plugins).appending(path: name)
    guard !FileManager.default.fileExists(atPath: folder.path) else {
      throw PluginTester.Problem(reason: "\(folder.relativePath) exists already")
    }
    do {
      for (path, text, mode) in files {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try String(decoding: text, as: UTF8.self).replacing("NAME", with: name)
          .write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      }
      if isSwift { try build(in: folder, launcher: launcher) }
    } catch {
      throw error as? PluginTester.Problem
        ?? PluginTester.Problem(writing: folder.relativePath, error)
    }
    return files.map { "\(plugins)/\(name)/\($0.path)" }
  }

  private var files: [(path: String, text: [UInt8], mode: Int)] {
    [
      (isSwift ? "main.swift" : name, program, isSwift ? 0o644 : 0o755),
      ("plugin.json", PackageResources.plugin_json, 0o644),
      ("samples/hello.payload", Array("Hello\n".utf8), 0o644),
      ("test.sh", PackageResources.test_sh, 0o755),
    ]
      + (isSwift ? [("build.sh", PackageResources.build_sh, 0o755)] : [])
  }

  private func build(in folder: URL, launcher: String) throws {
    let build = Program(
      "/bin/sh", [folder.appending(path: "build.sh").path],
      environment: ProcessInfo.processInfo.environment, launcher: launcher)
    guard try build.run() == 0 else {
      throw PluginTester.Problem(
        reason: "\(folder.relativePath) is written, but build.sh failed; is swiftc in PATH?")
    }
  }
}
