import FoundationEssentials
import PluginHost
import Primitives

/// A new plugin's folder: a working program, its manifest, a sample and a test.
///
/// The texts are in the folder `Templates`; in each of them `NAME` is replaced by the rich type, and `LABEL` by what
/// people read for it.
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
  private let hasForm: Bool

  /// Creates the description of a plugin for a rich type.
  ///
  /// - Parameters:
  ///   - name: The rich type.
  ///   - language: `sh`, `python`, `perl`, `php` or `swift`; without one `sh`, or `python` with a form.
  ///   - hasForm: Whether its content is filled in: a form, in `python` only.
  /// - Throws: ``PluginTester/Problem`` when the name or the language is not valid.
  package init(
    _ name: String, language: String?, hasForm: Bool = false
  ) throws(PluginTester.Problem) {
    let language = language ?? (hasForm ? "python" : "sh")
    guard Plugin.isValidName(name) else {
      throw PluginTester.Problem(
        reason:
          "a rich type is a lowercase letter and up to 31 lowercase letters, digits and hyphens, "
          + "not '\(name)'")
    }
    guard !hasForm || language == "python" else {
      throw PluginTester.Problem(reason: "--form makes a plugin in python, not in '\(language)'")
    }
    guard let program = Self.programs.first(where: { $0.key == language })?.value else {
      let names = Self.programs.map(\.key).joined(separator: ", ")
      throw PluginTester.Problem(reason: "--language must be one of \(names), not '\(language)'")
    }
    (self.name, isSwift, self.hasForm) = (name, language == "swift", hasForm)
    self.program = hasForm ? PackageResources.form_py : program
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
          .replacing("LABEL", with: name.prefix(1).uppercased() + name.dropFirst())
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

  /// A payload to try it with.
  package var sample: String { hasForm ? #"{"title": "Hello"}"# : "Hello" }

  private var files: [(path: String, text: [UInt8], mode: Int)] {
    [
      (isSwift ? "main.swift" : name, program, isSwift ? 0o644 : 0o755),
      ("plugin.json", hasForm ? PackageResources.form_json : PackageResources.plugin_json, 0o644),
      ("samples/hello.payload", Array("\(sample)\n".utf8), 0o644),
      ("test.sh", hasForm ? PackageResources.form_test_sh : PackageResources.test_sh, 0o755),
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
