import Delivery
import FoundationEssentials
import HTTP
import Media
import PluginHost
import Push
import Store

/// All metrics of the server, as the page `/metrics`.
struct MetricsReport: Sendable {
  let version: String
  let requests: RequestMetrics
  let renditions: RenditionCounts
  let queues: RenderQueues
  let host: PluginHost
  /// The number of open streams of each kind.
  let streams: [(name: String, count: @Sendable () -> Int)]
  let lanes: PushLanes
  let logins: FailedLogins
  let readiness: Readiness
  let certificate: CertificateMonitor
  let conditions: Conditions
  let disks: DiskMonitor
  let clock: ClockMonitor
  let store: Store

  /// The whole page; `server` is nil while it starts, `assets` if the database does not respond.
  func page(
    _ server: Server?, assets: [AssetRecord.State: Int]?, queues: [LaneQueue],
    unreached: [(platform: String, count: Int)]
  ) -> String {
    var page = PrometheusText()
    page.family("richpush_build_info", "gauge", "Always 1; the label is the server's version.")
    page.sample(["version": version], 1)
    addHTTP(to: &page, server)
    addMedia(to: &page, server?.cacheMetrics ?? CacheMetrics.Snapshot())
    page.family("richpush_assets", "gauge", "Files in the drop folder by state.")
    for state in AssetRecord.State.allCases {
      page.sample(["state": state.rawValue], assets?[state] ?? 0)
    }
    addPlugins(to: &page)
    addPushes(to: &page, waiting: queues)
    page.family("richpush_ready", "gauge", "1 if devices can be served, or publishers.")
    for purpose in Readiness.Purpose.allCases {
      page.sample(["for": purpose.rawValue], readiness.isReady(for: purpose) ? 1 : 0)
    }
    page.family(
      "richpush_certificate_expires_seconds", "gauge",
      "Seconds until a TLS certificate in use expires, negative after that, by its file.")
    for (file, seconds) in certificate.secondsLeft { page.sample(["certificate": file], seconds) }
    addConditions(to: &page)
    page.family("richpush_database_away", "gauge", "1 while the database does not respond.")
    page.sample([:], assets == nil ? 1 : 0)
    page.family(
      "richpush_receipts_dropped_total", "counter",
      "Receipts that were lost because the database did not take them.")
    page.sample([:], store.droppedReceipts)
    page.family(
      "richpush_lead", "gauge", "1 at the node that does what only one of several does.")
    page.sample([:], store.observers.lead.isHeld ? 1 : 0)
    page.family(
      "richpush_lead_vacant", "gauge", "1 if no node has had a lead for a minute.")
    for (name, lead) in [("nodes", store.observers.lead), ("folder", store.observers.folderLead)] {
      page.sample(["lead": name], lead.isVacant ? 1 : 0)
    }
    addObjects(to: &page)
    page.family(
      "richpush_devices_without_lane", "gauge", "Devices that no configured push service reaches.")
    for (platform, count) in unreached { page.sample(["platform": platform], count) }
    return page.text
  }

  private func addConditions(to page: inout PrometheusText) {
    page.family(
      "richpush_condition", "gauge",
      "1 while something is wrong with the machine or what the server needs: the log says what to do."
    )
    for code in Condition.Code.allCases {
      page.sample(["code": code.rawValue], conditions.has(code) ? 1 : 0)
    }
    page.family(
      "richpush_disk_free_bytes", "gauge",
      "Space on the disks of the data folder, of blobs, and of the drop folder, if they differ.")
    for (disk, space) in disks.spaces { page.sample(["folder": disk.label], space.free) }
    page.family("richpush_clock_jumps_total", "counter", "How often the wall clock was set.")
    page.sample([:], clock.jumps)
    page.family(
      "richpush_clock_difference_seconds", "gauge",
      "How far the PostgreSQL server's clock is ahead of this machine's.")
    if let ahead = clock.databaseAhead { page.sample([:], ahead) }
  }

  private func addHTTP(to page: inout PrometheusText, _ server: Server?) {
    let routes = requests.routes
    page.family("richpush_http_requests_total", "counter", "Responses by route, method and status.")
    for (route, counts) in routes {
      for (kind, count) in counts.responses.sorted(by: { "\($0.kind)" < "\($1.kind)" }) {
        page.sample(["route": route, "method": kind.method, "status": "\(kind.status)"], count)
      }
    }
    page.family("richpush_http_response_bytes_total", "counter", "Bytes of response bodies.")
    for (route, counts) in routes { page.sample(["route": route], counts.bytes) }
    page.family(
      "richpush_http_response_seconds", "histogram",
      "Time from the end of the request's head to the end of the response.")
    for (route, counts) in routes {
      var sum = 0
      let bounds = RouteCounter.bounds.map { "\(Double($0) / 1e9)" } + ["+Inf"]
      for (bound, count) in zip(bounds, counts.buckets) {
        sum += count
        page.sample(["route": route, "le": bound], sum, suffix: "_bucket")
      }
      page.sample(["route": route], Double(counts.nanoseconds) / 1e9, suffix: "_sum")
      page.sample(["route": route], sum, suffix: "_count")
    }
    page.family("richpush_http_connections", "gauge", "Open connections.")
    page.sample([:], server?.openConnections ?? 0)
    page.family(
      "richpush_logins_refused_total", "counter",
      "Failed logins: the password was wrong, or not checked because of too many failures.")
    page.sample(["reason": "wrong"], logins.wrong)
    page.sample(["reason": "limit"], logins.limited)
  }

  private func addMedia(to page: inout PrometheusText, _ mapped: CacheMetrics.Snapshot) {
    page.family("richpush_renditions_total", "counter", "Rendition requests by outcome.")
    for outcome in RenditionCounts.Outcome.allCases {
      page.sample(["outcome": outcome.rawValue], renditions[outcome])
    }
    page.family("richpush_prepared_bytes", "gauge", "Bytes of small files in memory.")
    page.sample([:], mapped.bytes)
    page.family("richpush_prepared_files", "gauge", "Files whose responses are prepared.")
    page.sample([:], mapped.files)
    page.family("richpush_prepared_descriptors", "gauge", "Files kept open to be sent.")
    page.sample([:], mapped.descriptors)
    page.family("richpush_prepared_evicted_total", "counter", "Prepared files that were evicted.")
    page.sample([:], mapped.evicted)
  }

  private func addPlugins(to page: inout PrometheusText) {
    let plugins = host.status().map { (type: $0.plugin.richType, $0, queues.load(of: $0.plugin)) }
    page.family("richpush_plugin_calls", "gauge", "Plugin calls that are running or waiting.")
    for (type, status, queue) in plugins {
      page.sample(["type": type, "state": "running"], status.queue.running)
      page.sample(["type": type, "state": "waiting"], status.queue.waiting + queue.waiting)
    }
    page.family(
      "richpush_plugin_refused_total", "counter", "Plugin calls that were rejected: busy.")
    for (type, status, queue) in plugins {
      page.sample(["type": type], status.queue.rejected + queue.rejected)
    }
    let calls = plugins.flatMap { type, status, _ in
      status.calls.verbs.sorted { $0.key < $1.key }.map { (type, verb: $0.key, calls: $0.value) }
    }
    page.family("richpush_plugin_seconds", "summary", "Duration of plugin calls by type and verb.")
    for (type, verb, calls) in calls {
      page.sample(["type": type, "verb": verb], calls.time / .seconds(1), suffix: "_sum")
      page.sample(["type": type, "verb": verb], calls.count, suffix: "_count")
    }
    page.family("richpush_plugin_failures_total", "counter", "Failed plugin calls.")
    for (type, verb, calls) in calls {
      page.sample(["type": type, "verb": verb], calls.failures)
    }
  }

  private func addPushes(to page: inout PrometheusText, waiting queues: [LaneQueue]) {
    page.family("richpush_streams", "gauge", "Open event streams of devices and publishers.")
    for (name, count) in streams { page.sample(["stream": name], count()) }
    let lanes = lanes.status
    page.family(
      "richpush_pushes_total", "counter",
      "Pushes by lane and outcome; a service has accepted those that were sent.")
    for (lane, status) in lanes {
      page.sample(["lane": lane, "outcome": "sent"], status.delivered)
      page.sample(["lane": lane, "outcome": "failed"], status.failed)
      page.sample(["lane": lane, "outcome": "retried"], status.retried)
    }
    page.family("richpush_push_lane_paused", "gauge", "1 while a lane's push service is failing.")
    for (lane, status) in lanes {
      page.sample(["lane": lane], status.pausedUntil == nil ? 0 : 1)
    }
    page.family(
      "richpush_push_lane_stopped", "gauge",
      "1 while a lane waits for its operator: richpush push list says why.")
    for (lane, status) in lanes {
      page.sample(["lane": lane], status.pauseReason == nil ? 0 : 1)
    }
    page.family(
      "richpush_registrations_ended_total", "counter",
      "Registrations that ended because the push service no longer knew the device.")
    for (lane, status) in lanes { page.sample(["lane": lane], status.endedRegistrations) }
    // Those to Web Push services count as one.
    let waiting = Dictionary(grouping: queues) { $0.lane.prefix { $0 != ":" } }
    let names = Set(lanes.map { $0.name[...] }).union(waiting.keys).sorted()
    page.family("richpush_push_waiting", "gauge", "Queued pushes by lane.")
    for lane in names {
      page.sample(["lane": String(lane)], waiting[lane, default: []].reduce(0) { $0 + $1.queued })
    }
    page.family(
      "richpush_push_oldest_seconds", "gauge", "Time since a lane's oldest queued push was due.")
    for lane in names {
      let oldest = waiting[lane, default: []].compactMap(\.oldest).min() ?? .now
      page.sample(["lane": String(lane)], max(0, -oldest.timeIntervalSinceNow))
    }
    guard let services = self.lanes.webPushServices else { return }
    page.family(
      "richpush_webpush_services", "gauge",
      "Web Push services with a lane, and those whose pushes wait for one (refused).")
    page.sample(["state": "sending"], services.known - services.paused)
    page.sample(["state": "paused"], services.paused)
    page.sample(["state": "refused"], services.refused)
  }
}

/// A page in Prometheus' text format (version 0.0.4).
struct PrometheusText {
  private(set) var text = ""
  private var name = ""

  /// Begins a family of samples.
  mutating func family(_ name: String, _ type: String, _ help: String) {
    self.name = name
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  /// Adds a sample to the current family; the suffix follows the family's name.
  mutating func sample(
    _ labels: KeyValuePairs<String, String>, _ value: some Numeric, suffix: String = ""
  ) {
    let inner = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    text += name + suffix + (inner.isEmpty ? " \(value)\n" : "{\(inner)} \(value)\n")
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
