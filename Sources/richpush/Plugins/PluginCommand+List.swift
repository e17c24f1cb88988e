import PluginHost
import PluginTester
import RichPushAPI
import RichPushClient

extension PluginCommand {
  /// Prints the plugins of the running server, or else those in the folder.
  static func list(_ arguments: Arguments) async throws {
    let level = try arguments.sandbox()
    if arguments.flag("json") {
      return Terminal.print(TerminalText(json: try await Account(arguments).client.plugins()))
    }
    do {
      show(try await Account(arguments).client.plugins())
    } catch let error as RichPushError {
      let why = error.status == 403 ? "statistics need an admin account (--user)." : error.reason
      Terminal.print("Listing the folder only; \(why)")
      try showFolder(PluginFolders(arguments), level)
    }
  }

  private static func show(_ report: PluginReport) {
    let head = [
      "TYPE", "VERSION", "MODE", "STATE", "PROCESSES", "CALLS", "FAILED", "MEDIAN", "95%",
      "LAST FAILURE",
    ]
    let rows = report.plugins.map { plugin in
      [
        plugin.richType, plugin.version.isEmpty ? "-" : plugin.version, plugin.mode, plugin.state,
        "\(plugin.processes.busy) busy, \(plugin.processes.idle) idle of \(plugin.processes.most)",
        "\(plugin.calls)", "\(plugin.failures)", text(plugin.medianSeconds),
        text(plugin.slowestSeconds), plugin.problem ?? plugin.lastFailure ?? "-",
      ]
    }
    Terminal.print(Table.text([head] + rows))
    for plugin in report.plugins where plugin.lastFailureTime != nil {
      Terminal.print("\(plugin.richType): last failure at \(plugin.lastFailureTime.cell)")
      let lines = (plugin.lastFailureOutput ?? "").split(whereSeparator: \.isNewline).suffix(10)
      for line in lines { Terminal.print("\(plugin.richType) says: \(line)") }
    }
    for plugin in report.plugins {
      if let confinement = plugin.confinement {
        Terminal.print("\(plugin.richType): \(confinement)")
      }
    }
    show(sandbox: report.sandbox.level, gaps: report.sandbox.gaps)
  }

  private static func showFolder(_ folders: PluginFolders, _ level: SandboxReport.Level) throws {
    let installed = try InstalledPlugins(
      folders: folders.paths, programs: Programs.folder, sandbox: level)
    let gaps = installed.gaps
    Terminal.print(
      Table.text([["TYPE", "VERSION", "MODE", "VERBS", "STATE", "ISOLATED BY"]] + installed.rows))
    show(sandbox: "not known without a server; \(level.rawValue) would be", gaps: gaps)
  }

  private static func show(sandbox: String, gaps: [String]) {
    Terminal.print(
      "sandbox: \(sandbox)" + (gaps.isEmpty ? ", complete on this kernel" : ", with these gaps"))
    for gap in gaps { Terminal.print("sandbox: \(gap)") }
  }

  private static func text(_ seconds: Double?) -> String {
    guard let seconds else { return "-" }
    return seconds < 0.01 ? "\(Int(seconds * 1_000_000)) µs" : "\(Int(seconds * 1000)) ms"
  }
}
