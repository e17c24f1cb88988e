import Foundation
import RichPushClient
import Testing
import Waiting

/// Debian's Prometheus Alertmanager, on a port of its own, which posts what it is told to webhooks.
final class Alertmanager: Sendable {
  private let child: Child
  /// Where it listens.
  let place: String
  /// The URL of its API.
  var address: String { "http://" + place }

  /// Starts it with a data folder of its own in `scratch`; it repeats each second what still fires.
  init(posting addresses: [String], in scratch: Scratch) async throws {
    let webhooks = addresses.map { "  - {url: '\($0)', send_resolved: true}\n" }.joined()
    let text = """
      route: {receiver: push, group_by: [alertname], group_wait: 100ms, group_interval: 1s, repeat_interval: 1s}
      receivers:
      - name: push
        webhook_configs:
      \(webhooks)
      """
    let file = try scratch.drop(Array(text.utf8), as: "alertmanager.yml")
    let child = try Child(
      "/usr/bin/prometheus-alertmanager",
      [
        "--config.file=\(file.path)", "--storage.path=\(scratch.folder.path)/alertmanager",
        "--web.listen-address=127.0.0.1:0", "--cluster.listen-address=",
        "--web.external-url=https://alerts.example",
      ])
    self.child = child
    try await eventually("Alertmanager listens: \(child.errors)") {
      child.errors.contains("Listening on")
    }
    let match = try #require(child.errors.firstMatch(of: /Listening on" address=([0-9.:]+)/))
    place = String(match.1)
  }

  /// Tells it that an alert fires, or that it has ended.
  func post(_ name: String, hasEnded: Bool = false) async throws {
    let end = hasEnded ? #","endsAt":"\#(Date().formatted(.iso8601))""# : ""
    let alert = #"""
      [{"labels":{"alertname":"\#(name)","instance":"web-1","severity":"critical"},
        "annotations":{"summary":"web-1 is slow"},"startsAt":"2026-11-29T10:00:00Z"\#(end)}]
      """#
    let posted = try await Child.run(
      "/usr/bin/curl",
      [
        "--silent", "--show-error", "--fail", "--header", "Content-Type: application/json",
        "--data", alert, address + "/api/v2/alerts",
      ])
    try #require(posted.exitCode == 0, "\(posted.errors)")
  }

  /// How often it has posted to webhooks, and how often in vain.
  func posts() async throws -> (all: Int, failed: Int) {
    let metrics = try await Child.run(
      "/usr/bin/curl", ["--silent", "--show-error", address + "/metrics"])
    func value(_ name: String) -> Int {
      let line = metrics.output.first {
        $0.hasPrefix("alertmanager_\(name){integration=\"webhook\"} ")
      }
      return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
    }
    return (value("notifications_total"), value("notifications_failed_total"))
  }

  func kill() async {
    child.send(SIGKILL)
    _ = await child.exitCode()
  }
}
