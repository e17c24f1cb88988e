/// What the host keeps for one version of a plugin: its queue and its processes.
final class Service: Sendable {
  let plugin: Plugin
  let timings: Timings
  let gate: Gate
  private let workplace: Workplace
  private let spawners: Pool<Spawner>
  private let workers: Pool<Worker>

  /// - Parameters:
  ///   - plugin: The version it serves.
  ///   - timings: Those of the plugin's versions before.
  ///   - workplace: The operator's bounds.
  init(_ plugin: Plugin, timings: Timings, workplace: Workplace) {
    self.plugin = plugin
    self.timings = timings
    self.workplace = workplace
    let configuration = workplace.configuration
    gate = Gate(
      places: min(plugin.manifest.workers.max ?? .max, configuration.concurrency),
      queueLength: configuration.queueLength, patience: configuration.queuePatience)
    var limits = plugin.manifest.workers
    workers = Pool(limits: limits) { () throws(PluginError) in try workplace.worker(of: plugin) }
    // The requests of a process that starts others do not wear it out.
    limits.requests = .max
    limits.min = 0
    spawners = Pool(limits: limits) { () throws(PluginError) in try workplace.spawner(of: plugin) }
  }

  /// Asks the plugin when its turn has come.
  func reply(
    to call: PluginCall, _ log: CallLog, _ transcript: Transcript?
  ) async throws(Fault) -> PluginReply {
    do throws(PluginError) {
      try await gate.enter()
    } catch {
      throw Fault(error: error, cause: "its queue is full")
    }
    defer { gate.leave() }
    switch plugin.manifest.mode {
    case .cgi:
      return try await OneShotCall(
        plugin: plugin, call: call, pool: spawners, workplace: workplace, log: log,
        transcript: transcript
      ).reply()
    case .fastcgi:
      return try await ResidentCall(
        plugin: plugin, call: call, pool: workers, workplace: workplace, log: log,
        transcript: transcript, patience: timings.isQuick ? .milliseconds(1) : .zero
      ).reply()
    }
  }

  /// Starts the workers that there must be at least.
  func fill() {
    if plugin.manifest.mode == .fastcgi, plugin.problem == nil { workers.fill() }
  }

  /// Lets all processes go, the busy ones when they are done.
  func close() {
    spawners.close()
    workers.close()
  }

  /// How it fares; `plugin` is the plugin as it stands now.
  func status(of plugin: Plugin) -> PluginStatus {
    let (resident, oneShot) = (workers.count, spawners.count)
    return PluginStatus(
      plugin: plugin,
      processes: PluginStatus.Processes(
        idle: resident.idle + oneShot.idle, busy: resident.busy + oneShot.busy,
        most: gate.places),
      queue: gate.standing, calls: timings.summary)
  }
}
