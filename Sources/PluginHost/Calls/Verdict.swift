/// What a plugin's end and answer mean to the caller: the event table of design section 3.
struct Verdict {
  private let plugin: Plugin

  init(on plugin: Plugin) {
    self.plugin = plugin
  }

  /// Passes judgement on how the process ended; nothing happens when it ended well.
  func judge(_ ending: Ending, _ malformation: Malformation?) throws(Fault) {
    if let malformation { throw broken(malformation.reason) }
    switch ending {
    case .exited(0): return
    case .exited(65):
      throw Fault(
        error: PluginError(
          status: 422, reason: "The plugin \(plugin.richType) refuses the content."),
        cause: "exit 65 (the data is wrong)")
    case .exited(69), .exited(75), .failed(11, _), .failed(23, _), .failed(24, _):
      throw Fault(
        error: .busy("The plugin \(plugin.richType) is not available now."), cause: "\(ending)")
    case .late:
      throw Fault(
        error: PluginError(
          status: 504, reason: "The plugin \(plugin.richType) took too long."),
        cause: "killed at its deadline of \(plugin.manifest.limits.seconds) s")
    case .tooMuchSpace:
      throw broken("its TMPDIR held more than \(Order.spaceMiB(for: plugin.manifest.limits)) MiB")
    case .tooMuchMemory:
      throw broken("its processes held more than \(plugin.manifest.limits.memoryMiB) MiB of memory")
    default: throw broken("it \(ending.sentence)")
    }
  }

  /// The fault of a plugin that answers what it must not.
  func broken(_ cause: String) -> Fault {
    let sentence = "The plugin \(plugin.richType) failed; the server's log says why."
    return Fault(error: .broken(sentence), cause: cause)
  }

  /// Statuses that reach the caller as they are, with the plugin's sentence.
  static let refusals: Set<Int> = [404, 410, 415, 422, 451, 503]
}

/// What the caller is told, and what the log is.
struct Fault: Error {
  let error: PluginError
  let cause: String
}
