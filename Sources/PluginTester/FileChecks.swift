import Glibc
import PluginHost

extension Check {
  /// What can be checked without running the plugin.
  static let files = [
    Check(
      "has a valid name",
      why:
        "The name is in requests and file names: a letter, then up to 31 letters, digits, hyphens.",
      fix: "Rename the file or folder, for example to coupon."
    ) { tester, _, _ in
      Plugin.isValidName(tester.name) ? .passes() : .fails("it is called \(tester.name)")
    },
    Check(
      "can be run",
      why: "The server runs exactly this file; it does not look for another one.",
      fix: "Do what the finding says: chmod +x, another first line, or a correct plugin.json."
    ) { _, plugin, _ in
      plugin.problem.map { .fails($0) } ?? .passes()
    },
    Check(
      "can be changed by its owner only",
      why: "Any user who can change a plugin can run code as the server.",
      fix: "chmod go-w the file, and the folder."
    ) { tester, plugin, _ in
      for path in [tester.path, plugin.executable] {
        var status = stat()
        let mode = stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
        if mode & 0o022 != 0 { return .fails("\(path) has the mode \(String(mode, radix: 8))") }
      }
      return .passes()
    },
    Check(
      "declares what it accepts and produces",
      why: "With */* the server can reject neither a wrong file nor a wrong response.",
      fix: "Add plugin.json with accepts and produces, such as [\"image/*\"]."
    ) { tester, plugin, _ in
      guard plugin.folder == tester.path else { return .doesNotApply("it is a bare executable") }
      return plugin.manifest.produces == ["*/*"]
        ? .fails("plugin.json has no produces") : .passes()
    },
    Check(
      "has a sample",
      why: "The further checks call the plugin with samples.",
      fix:
        "Put files into its folder samples (literal content: NAME.payload), or use --payload, --asset."
    ) { _, _, samples in
      samples.isEmpty ? .fails("there is none") : .passes("\(samples.count)")
    },
  ]
}
