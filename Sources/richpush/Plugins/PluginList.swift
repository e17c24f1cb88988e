import PluginTester
import PluginHost
import RichPushClient

/// `richpush plugin list`: from the server that runs, or else from the folder.
struct PluginList {
  private let client: RichPushClient
  private let folders: PluginFolders
  private let level: SandboxReport.Level

  init(_ arguments: Arguments) throws {
    client = try Account(arguments).client
    folders = PluginFolders(arguments)
    level = try arguments.sandbox()
  }

  func show() async throws {
    do {
      show(try await client.plugins())
    } catch let error as RichPushError {
      let why = error.status == 403 ? "statistics need an admin account (--user)." : error.reason
      Terminal.say("Listing the folder only; \(why)")
      try showFolder()
    }
  }

  private func show(_ inventory: PluginReport) {
    let head = [
      "TYPE", "VERSION", "MODE", "STATE", "PROCESSES", "CALLS", "FAILED", "MEDIAN", "95%",
      "LAST FAILURE",
    ]
    let rows = inventory.plugins.map { plugin in
      [
        plugin.richType, plugin.version.isEmpty ? "-" : plugin.version, plugin.mode, plugin.state,
        "\(plugin.processes.busy) busy, \(plugin.processes.idle) idle of \(plugin.processes.most)",
        "\(plugin.calls)", "\(plugin.failures)", time(plugin.medianSeconds),
        time(plugin.slowestSeconds), plugin.problem ?? plugin.lastFailure ?? "-",
      ]
    }
    Terminal.say(Table.text([head] + rows))
    for plugin in inventory.plugins {
      if let confinement = plugin.confinement { Terminal.say("\(plugin.richType): \(confinement)") }
    }
    say(inventory.sandbox.level, gaps: inventory.sandbox.gaps)
  }

  private func showFolder() throws {
    let installed: InstalledPlugins
    let gaps: [String]
    do {
      installed = try InstalledPlugins(
        folder: folders.own, shipped: folders.shipped, programs: Programs.folder, sandbox: level)
      gaps = try installed.gaps()
    } catch { throw CommandLineError.failed(error.reason) }
    Terminal.say(
      Table.text([["TYPE", "VERSION", "MODE", "VERBS", "STATE", "ISOLATED BY"]] + installed.rows))
    say("not known without a server; \(level.rawValue) would be", gaps: gaps)
  }

  private func say(_ sandbox: String, gaps: [String]) {
    Terminal.say(
      "sandbox: \(sandbox)" + (gaps.isEmpty ? ", complete on this kernel" : ", with these gaps"))
    for gap in gaps { Terminal.say("sandbox: \(gap)") }
  }

  private func time(_ seconds: Double?) -> String {
    guard let seconds else { return "-" }
    return seconds < 0.01 ? "\(Int(seconds * 1_000_000)) µs" : "\(Int(seconds * 1000)) ms"
  }
}
