import Foundation
import PluginHost

extension Check {
  /// What can be seen without running the plugin.
  static let files = [
    Check(
      "has a name that a rich type can have",
      why:
        "The name is part of requests and file names: a letter and up to 31 letters, digits, hyphens.",
      mend: "Rename the file or folder, for example to coupon."
    ) { bench, _, _ in
      Plugin.isName(bench.name) ? .holds() : .fails("it is called \(bench.name)")
    },
    Check(
      "can be run as it stands",
      why: "The server runs exactly this file and looks nowhere else; nothing is guessed.",
      mend: "Do what the finding says: chmod +x, or correct plugin.json."
    ) { _, plugin, _ in
      plugin.problem.map { .fails($0) } ?? .holds()
    },
    Check(
      "names an interpreter that is there",
      why:
        "A script whose first line names a missing program, or ends in CR, fails with 502 each time.",
      mend: "Correct the line #!…, install the interpreter, and save the file with Unix line ends."
    ) { _, plugin, _ in
      guard let line = plugin.interpreter else { return .doesNotApply("it is no script") }
      if line.hasSuffix("\r") { return .fails("the first line ends in CR") }
      let words = line.split(separator: " ").map(String.init)
      guard let program = words.first else { return .fails("the first line names nothing") }
      let isThere = FileManager.default.isExecutableFile(atPath:)
      guard isThere(program) else { return .fails("there is no \(program)") }
      guard program.hasSuffix("/env"), words.count > 1 else { return .holds(program) }
      let found = ["/usr/local/bin", "/usr/bin", "/bin"].map { "\($0)/\(words[1])" }.first(
        where: isThere)
      return found.map { .holds($0) }
        ?? .fails("\(words[1]) is not in /usr/local/bin, /usr/bin or /bin, the PATH of a plugin")
    },
    Check(
      "can be changed by its owner only",
      why: "Whoever can write a plugin runs code in the server's name.",
      mend: "chmod go-w the file, and the folder."
    ) { bench, plugin, _ in
      for path in [bench.path, plugin.executable] {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0
        if mode & 0o022 != 0 { return .fails("\(path) has the mode \(String(mode, radix: 8))") }
      }
      return .holds()
    },
    Check(
      "says what it takes and gives",
      why:
        "With */* the server cannot refuse a wrong file before the push, nor a wrong answer after it.",
      mend: "Add plugin.json with accepts and produces, such as [\"image/*\"]."
    ) { bench, plugin, _ in
      guard plugin.folder == bench.path else { return .doesNotApply("it is a bare executable") }
      return plugin.manifest.produces == ["*/*"] ? .fails("plugin.json has no produces") : .holds()
    },
    Check(
      "has a sample to be asked about",
      why: "What nobody tried is what breaks; the further checks ask about samples.",
      mend:
        "Put files into its folder samples, literal content as NAME.payload; or give --payload, --asset."
    ) { _, _, samples in
      samples.isEmpty ? .fails("there is none") : .holds("\(samples.count)")
    },
  ]
}
