import HTTP
import PluginHost
import Push
import Store

/// Everything that can be measured, and the page that says so: `/metrics`.
struct Instruments: Sendable {
  let version: String
  let metrics: Metrics
  let renditions: RenditionCounts
  let lines: RenderLines
  let host: PluginHost
  let streams: [(name: String, streams: EventStreams)]
  let lanes: Lanes
  let logins: FailedLogins

  /// The whole page; `server` is nil while it starts.
  func page(_ server: Server?, assets: [Asset.State: Int]) -> String {
    var page = MetricsPage()
    page.family("richpush_build_info", "gauge", "1, with the version that runs.")
    page.sample("richpush_build_info", ["version": version], 1)
    http(&page, server)
    media(&page, server?.prepared)
    page.family("richpush_assets", "gauge", "Files of the drop folder by what became of them.")
    for state in Asset.State.allCases {
      page.sample("richpush_assets", ["state": state.rawValue], assets[state] ?? 0)
    }
    plugins(&page)
    pushes(&page)
    return page.text
  }

  private func http(_ page: inout MetricsPage, _ server: Server?) {
    let routes = metrics.routes
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
      for (bound, count) in zip(Metrics.bounds.map { "\($0)" } + ["+Inf"], counts.buckets) {
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

  private func media(_ page: inout MetricsPage, _ prepared: PreparedFigures?) {
    page.family("richpush_renditions_total", "counter", "What became of wishes for renditions.")
    for outcome in RenditionCounts.Outcome.allCases {
      page.sample(
        "richpush_renditions_total", ["outcome": outcome.rawValue], renditions[outcome])
    }
    let prepared = prepared ?? PreparedFigures()
    page.family("richpush_prepared_bytes", "gauge", "Bytes of files mapped as prepared answers.")
    page.sample("richpush_prepared_bytes", prepared.bytes)
    page.family("richpush_prepared_files", "gauge", "Files mapped as prepared answers.")
    page.sample("richpush_prepared_files", prepared.files)
    page.family("richpush_prepared_descriptors", "gauge", "Files held open to be sent as they are.")
    page.sample("richpush_prepared_descriptors", prepared.descriptors)
    page.family("richpush_prepared_evicted_total", "counter", "Prepared answers that made room.")
    page.sample("richpush_prepared_evicted_total", prepared.evicted)
  }

  private func plugins(_ page: inout MetricsPage) {
    let plugins = host.status()
    page.family("richpush_plugin_calls", "gauge", "Calls of plugins under way and waiting.")
    for plugin in plugins {
      page.sample(
        "richpush_plugin_calls", ["type": plugin.plugin.richType, "state": "running"],
        plugin.queue.running)
      page.sample(
        "richpush_plugin_calls", ["type": plugin.plugin.richType, "state": "waiting"],
        plugin.queue.waiting + lines[plugin.plugin].standing.waiting)
    }
    page.family("richpush_plugin_refused_total", "counter", "Calls for which there was no turn.")
    for plugin in plugins {
      page.sample(
        "richpush_plugin_refused_total", ["type": plugin.plugin.richType],
        plugin.queue.refused + lines[plugin.plugin].standing.refused)
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

  private func pushes(_ page: inout MetricsPage) {
    page.family("richpush_streams", "gauge", "Devices and publishers that listen.")
    for (name, streams) in streams {
      page.sample("richpush_streams", ["stream": name], streams.count)
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
