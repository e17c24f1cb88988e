/// What the host keeps for one version of a plugin: its queue and its processes.
final class Service: Sendable {
  let plugin: Plugin
  let timings: Timings
  let gate: Gate
  private let heads: LastHead
  private let workplace: Workplace
  private let spawners: Pool<Spawner>
  private let workers: Pool<Worker>

  /// - Parameters:
  ///   - plugin: The version it serves.
  ///   - timings: Those of the plugin's versions before.
  ///   - workplace: The operator's bounds.
  init(_ plugin: Plugin, timings: Timings, workplace: Workplace) {
    self.plugin = plugin
    heads = LastHead(of: plugin)
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

  /// Whether a call is likely to be over before another thread could take it up.
  var isQuick: Bool { plugin.manifest.mode == .fastcgi && timings.isQuick }

  /// Whether there is a process for such a call, too.
  var answersAtOnce: Bool { isQuick && workers.count.idle > 0 }

  /// Asks the plugin when its turn has come.
  ///
  /// Half of its places are kept for those who ask at once: else they would wait, too, once all are
  /// taken, and a queue of those who wait takes longer for each than they do for all.
  func reply(
    to call: PluginCall, atOnce: Bool, _ log: CallLog, _ transcript: Transcript?
  ) async throws(Fault) -> PluginReply {
    do throws(PluginError) {
      if !(atOnce && gate.isEntered()) {
        try await gate.enter(sparing: isQuick ? gate.places / 2 : 0)
      }
    } catch {
      let fault = Fault(error: error, cause: "its queue is full")
      timings.count(call.verb, nil, fault)
      throw fault
    }
    defer { gate.leave() }
    let begun = ContinuousClock.now
    let isEndless = Patience.isEndless
    let patience =
      plugin.manifest.mode != .fastcgi
      ? .zero : isEndless ? Patience.ofThread : timings.patience()
    defer { if !isEndless { timings.noteHold(.now - begun, of: patience) } }
    do throws(Fault) {
      let reply = try await answer(to: call, log, transcript, patience)
      timings.count(call.verb, .now - begun)
      return reply
    } catch {
      timings.count(call.verb, .now - begun, error)
      throw error
    }
  }

  private func answer(
    to call: PluginCall, _ log: CallLog, _ transcript: Transcript?, _ patience: Duration
  ) async throws(Fault) -> PluginReply {
    switch plugin.manifest.mode {
    case .cgi:
      return try await OneShotCall(
        plugin: plugin, heads: heads, call: call, pool: spawners, workplace: workplace, log: log,
        transcript: transcript
      ).reply()
    case .fastcgi:
      return try await ResidentCall(
        plugin: plugin, heads: heads, call: call, pool: workers, workplace: workplace, log: log,
        transcript: transcript, patience: patience
      ).reply()
    }
  }

  /// Starts workers for so many calls that are about to come.
  func prepare(_ calls: Int) {
    guard plugin.manifest.mode == .fastcgi, plugin.problem == nil else { return }
    workers.prepare(min(calls, gate.places))
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
