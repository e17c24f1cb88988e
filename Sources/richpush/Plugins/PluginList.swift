import PluginBench
import RichPushClient

/// `richpush plugin list`: from the server that runs, or else from the folder.
struct PluginList {
  private let client: RichPushClient
  private let folder: String

  init(_ arguments: Arguments) throws {
    client = try Account(arguments).client
    folder = try arguments.required("plugins")
  }

  func show() async throws {
    do {
      show(try await client.plugins())
    } catch let error as RichPushError {
      Terminal.say("(from the folder: \(error.reason))")
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
    show(level: inventory.sandbox.level, gaps: inventory.sandbox.gaps)
  }

  private func showFolder() throws {
    let shelf: PluginShelf
    let gaps: [String]
    do {
      shelf = try PluginShelf(folder: folder, programs: Programs.folder)
      gaps = try shelf.gaps()
    } catch { throw CommandLineError.failed(error.reason) }
    Terminal.say(Table.text([["TYPE", "VERSION", "MODE", "VERBS", "STATE"]] + shelf.rows))
    show(level: "standard", gaps: gaps)
  }

  private func show(level: String, gaps: [String]) {
    Terminal.say("sandbox: \(level)" + (gaps.isEmpty ? ", complete on this kernel" : ""))
    for gap in gaps { Terminal.say("sandbox: \(gap)") }
  }

  private func time(_ seconds: Double?) -> String {
    guard let seconds else { return "-" }
    return seconds < 0.01 ? "\(Int(seconds * 1_000_000)) µs" : "\(Int(seconds * 1000)) ms"
  }
}
