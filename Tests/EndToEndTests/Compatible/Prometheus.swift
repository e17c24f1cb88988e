import Foundation

/// Debian's Prometheus, on a port of its own, which tells an Alertmanager when a server is down.
final class Prometheus: Sendable {
  /// The alert's name.
  static let alert = "WebDown"

  private let child: Child

  /// Starts it with its data in `scratch`; it looks each 200 ms.
  init(telling alertmanager: Alertmanager, in scratch: Scratch) throws {
    let rules = """
      groups:
      - name: web
        rules:
        - alert: \(Self.alert)
          expr: sum(up{job="web"}) == 0
          labels: {severity: critical}
          annotations: {summary: nobody can read}
      """
    let configuration = """
      global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}
      rule_files: [rules.yml]
      scrape_configs:
      - {job_name: web, file_sd_configs: [{files: [web.json]}]}
      alerting: {alertmanagers: [{static_configs: [{targets: ['\(alertmanager.place)']}]}]}
      """
    try scratch.drop(Array(rules.utf8), as: "rules.yml")
    let file = try scratch.drop(Array(configuration.utf8), as: "prometheus.yml")
    child = try Child(
      "/usr/bin/prometheus",
      [
        "--config.file=\(file.path)", "--storage.tsdb.path=\(scratch.folder.path)/prometheus",
        "--web.listen-address=127.0.0.1:0", "--rules.alert.resend-delay=1s",
      ])
  }

  /// Says where the server is, before or after the start.
  static func watch(port: Int, in scratch: Scratch) throws {
    let text = #"[{"targets": ["127.0.0.1:\#(port)"]}]"#
    try scratch.drop(Array(text.utf8), as: "web.json")
  }

  func kill() async {
    child.send(SIGKILL)
    _ = await child.exitCode()
  }

  /// What it has said.
  var log: String { child.errors }
}
