import Foundation
import PluginHost

/// A new plugin's folder: a program that works, its manifest, a sample and a test.
package struct Scaffold: Sendable {
  private let name: String
  private let language: Language

  /// Describes a plugin for a rich type.
  ///
  /// - Parameters:
  ///   - name: The rich type.
  ///   - language: `sh`, `python`, `perl`, `php` or `swift`.
  /// - Throws: ``PluginBench/Problem`` when the name or the language is none.
  package init(_ name: String, language: String) throws(PluginBench.Problem) {
    guard Plugin.isName(name) else {
      throw PluginBench.Problem(
        reason:
          "a rich type is a small letter and up to 31 small letters, digits and hyphens, not '\(name)'"
      )
    }
    guard let known = Language(rawValue: language) else {
      let names = Language.allCases.map(\.rawValue).joined(separator: ", ")
      throw PluginBench.Problem(reason: "--language is one of \(names), not '\(language)'")
    }
    (self.name, self.language) = (name, known)
  }

  /// Writes the folder `name` into `plugins`, and compiles what must be compiled.
  ///
  /// - Returns: The files, in the order to look at them.
  /// - Throws: ``PluginBench/Problem`` when there is such a plugin, or the disk does not let it.
  package func write(into plugins: String) throws(PluginBench.Problem) -> [String] {
    let folder = URL(fileURLWithPath: plugins).appending(path: name)
    guard !FileManager.default.fileExists(atPath: folder.path) else {
      throw PluginBench.Problem(reason: "there is a \(folder.relativePath) already")
    }
    do {
      for (path, text, mode) in files {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.replacing("NAME", with: name).write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      }
      if language == .swift { try build(in: folder) }
    } catch let problem as PluginBench.Problem {
      throw problem
    } catch {
      throw PluginBench.Problem(reason: error.localizedDescription)
    }
    return files.map { "\(plugins)/\(name)/\($0.path)" }
  }

  private var files: [(path: String, text: String, mode: Int)] {
    let program = language == .swift ? "main.swift" : name
    return [
      (program, language.program, language == .swift ? 0o644 : 0o755),
      ("plugin.json", Language.manifest, 0o644),
      ("samples/hello.payload", "Hello\n", 0o644),
      ("test.sh", Language.test, 0o755),
    ]
      + (language == .swift ? [("build.sh", Language.build, 0o755)] : [])
      + (language == .php ? [("php.ini", "opcache.lockfile_path=${TMPDIR}\n", 0o644)] : [])
  }

  private func build(in folder: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [folder.appending(path: "build.sh").path]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw PluginBench.Problem(
        reason: "\(folder.relativePath) is written, but build.sh failed; is swiftc on the path?")
    }
  }
}
