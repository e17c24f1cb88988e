import Delivery
import Media
import HTTP
import PluginHost
import Push
import Store

/// Everything that can be measured, and the page that says so: `/metrics`.
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

  /// The whole page; `server` is nil while it starts.
  func page(
    _ server: Server?, assets: [AssetRecord.State: Int], unreached: [(platform: String, count: Int)]
  ) -> String {
    var page = PrometheusText()
    page.family("richpush_build_info", "gauge", "1, with the version that runs.")
    page.sample("richpush_build_info", ["version": version], 1)
    http(&page, server)
    media(&page, server?.cacheMetrics)
    page.family("richpush_assets", "gauge", "Files of the drop folder by what became of them.")
    for state in AssetRecord.State.allCases {
      page.sample("richpush_assets", ["state": state.rawValue], assets[state] ?? 0)
    }
    plugins(&page)
    pushes(&page)
    let name = "richpush_devices_without_lane"
    page.family(name, "gauge", "Devices of the platforms that no push service sends to.")
    for (platform, count) in unreached { page.sample(name, ["platform": platform], count) }
    return page.text
  }

  private func http(_ page: inout PrometheusText, _ server: Server?) {
    let routes = requests.routes
    page.family("richpush_http_requests_total", "counter", "Answers by route and status.")
    for (route, counts) in routes {
      for (answer, count) in counts.answers.sorted(by: { "\($0.answer)" < "\($1.answer)" }) {
        page.sample(
          "richpush_http_requests_total",
          ["route": route, "method": answer.method, "status": "\(answer.status)"], count)
      }
    }
    page.family("richpush_http_response_bytes_total", "counter", "Bytes of answers' bodies.")
    for (route, counts) in routes {
      page.sample("richpush_http_response_bytes_total", ["route": route], counts.bytes)
    }
    let name = "richpush_http_response_seconds"
    page.family(name, "histogram", "From the end of a request's head to the end of its answer.")
    for (route, counts) in routes {
      var sum = 0
      for (bound, count) in zip(RequestMetrics.bounds.map { "\($0)" } + ["+Inf"], counts.buckets) {
        sum += count
        page.sample("\(name)_bucket", ["route": route, "le": bound], sum)
      }
      page.sample("\(name)_sum", ["route": route], counts.seconds)
      page.sample("\(name)_count", ["route": route], sum)
    }
    page.family("richpush_http_connections", "gauge", "Connections that are open.")
    page.sample("richpush_http_connections", server?.openConnections ?? 0)
    page.family(
      "richpush_logins_refused_total", "counter", "Passwords that were wrong, or too many.")
    page.sample("richpush_logins_refused_total", ["reason": "wrong"], logins.wrong)
    page.sample("richpush_logins_refused_total", ["reason": "limit"], logins.limited)
  }

  private func media(_ page: inout PrometheusText, _ prepared: CacheMetrics.Snapshot?) {
    page.family("richpush_renditions_total", "counter", "Rendition requests by outcome.")
    for outcome in RenditionCounts.Outcome.allCases {
      page.sample(
        "richpush_renditions_total", ["outcome": outcome.rawValue], renditions[outcome])
    }
    let prepared = prepared ?? CacheMetrics.Snapshot()
    page.family("richpush_prepared_bytes", "gauge", "Bytes of files mapped as prepared answers.")
    page.sample("richpush_prepared_bytes", prepared.bytes)
    page.family("richpush_prepared_files", "gauge", "Files mapped as prepared answers.")
    page.sample("richpush_prepared_files", prepared.files)
    page.family("richpush_prepared_descriptors", "gauge", "Files held open to be sent as they are.")
    page.sample("richpush_prepared_descriptors", prepared.descriptors)
    page.family("richpush_prepared_evicted_total", "counter", "Prepared answers that made room.")
    page.sample("richpush_prepared_evicted_total", prepared.evicted)
  }

  private func plugins(_ page: inout PrometheusText) {
    let plugins = host.status()
    page.family("richpush_plugin_calls", "gauge", "Calls of plugins under way and waiting.")
    for plugin in plugins {
      page.sample(
        "richpush_plugin_calls", ["type": plugin.plugin.richType, "state": "running"],
        plugin.queue.running)
      page.sample(
        "richpush_plugin_calls", ["type": plugin.plugin.richType, "state": "waiting"],
        plugin.queue.waiting + queues.load(of: plugin.plugin).waiting)
    }
    page.family("richpush_plugin_refused_total", "counter", "Calls for which there was no turn.")
    for plugin in plugins {
      page.sample(
        "richpush_plugin_refused_total", ["type": plugin.plugin.richType],
        plugin.queue.rejected + queues.load(of: plugin.plugin).rejected)
    }
    page.family("richpush_plugin_seconds", "summary", "Time of calls by type and verb.")
    for plugin in plugins {
      for (verb, calls) in plugin.calls.verbs.sorted(by: { $0.key < $1.key }) {
        page.sample(
          "richpush_plugin_seconds_sum", ["type": plugin.plugin.richType, "verb": verb],
          calls.time / .seconds(1))
        page.sample(
          "richpush_plugin_seconds_count", ["type": plugin.plugin.richType, "verb": verb],
          calls.count)
      }
    }
    page.family("richpush_plugin_failures_total", "counter", "Calls that the plugin failed.")
    for plugin in plugins {
      for (verb, calls) in plugin.calls.verbs.sorted(by: { $0.key < $1.key }) {
        page.sample(
          "richpush_plugin_failures_total", ["type": plugin.plugin.richType, "verb": verb],
          calls.failures)
      }
    }
  }

  private func pushes(_ page: inout PrometheusText) {
    page.family("richpush_streams", "gauge", "Devices and publishers that listen.")
    for (name, count) in streams {
      page.sample("richpush_streams", ["stream": name], count())
    }
    let lanes = lanes.status
    page.family("richpush_pushes_total", "counter", "Pushes by lane and outcome.")
    for (lane, status) in lanes {
      for (outcome, count) in [
        ("delivered", status.delivered), ("failed", status.failed), ("retried", status.retried),
      ] {
        page.sample("richpush_pushes_total", ["lane": lane, "outcome": outcome], count)
      }
    }
    page.family("richpush_push_lane_paused", "gauge", "1 while a push service is out of order.")
    for (lane, status) in lanes {
      page.sample("richpush_push_lane_paused", ["lane": lane], status.pausedUntil == nil ? 0 : 1)
    }
  }
}

/// A page in Prometheus' text format (version 0.0.4).
struct PrometheusText {
  private(set) var text = ""

  /// Begins a family; its samples follow.
  mutating func family(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  /// A sample with its labels.
  mutating func sample(
    _ name: String, _ labels: KeyValuePairs<String, String>, _ value: some Numeric
  ) {
    let inner = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    text += inner.isEmpty ? "\(name) \(value)\n" : "\(name){\(inner)} \(value)\n"
  }

  /// A sample without labels.
  mutating func sample(_ name: String, _ value: some Numeric) { sample(name, [:], value) }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
