import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// What an operator's instruments see.
@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
  @Test func `the rules and the board for Prometheus name only metrics that exist`() async throws {
    let objects = try ObjectStandIn()
    try await RunningServer.lend(
      flags: ["--demo", "--push", "embedded,webpush", "--objects", objects.url],
      environment: ["RICHPUSH_OBJECTS_ACCESS_KEY": "a", "RICHPUSH_OBJECTS_SECRET_KEY": "b"]
    ) { server in
      let page = String(decoding: try server.get("/metrics").body, as: UTF8.self)
      let existing = Set(page.matches(of: #/# TYPE (\S+)/#).map { String($0.1) })
      for file in ["richpush.rules.yml", "grafana.json"] {
        let bytes = try Package.bytes("packaging/monitoring/" + file)
        let text = String(decoding: bytes, as: UTF8.self)
        let named = Set(text.matches(of: #/richpush_[a-z_]+/#).map { String($0.0) })
        #expect(named.count > 5)
        for name in named {
          let family = name.replacing(#/_(bucket|sum|count)$/#, with: "")
          #expect(existing.contains(name) || existing.contains(family), "\(file): \(name)")
        }
      }
      let board = try JSONSerialization.jsonObject(
        with: Data(try Package.bytes("packaging/monitoring/grafana.json")))
      #expect((board as? [String: Any])?["panels"] is [Any])
    }
  }

  @Test func `every measurement is there, in a form that Prometheus reads`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      _ = try await alice.create(.logo(to: "alice"))
      for _ in 0..<3 { _ = try await alice.media(0, options: MediaOptions(width: 128)) }
      #expect(try server.get("/nowhere").status == 404)
      #expect(RawConnection.isRefused(try RawConnection(port: server.port).bytes("no head\r\n")))
      let page = try server.get("/metrics")
      #expect(page.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      let families = try await Self.families(of: page.body)
      for (name, type) in [
        ("richpush_build_info", "gauge"), ("richpush_http_requests", "counter"),
        ("richpush_http_response_seconds", "histogram"),
        ("richpush_http_response_bytes", "counter"), ("richpush_http_connections", "gauge"),
        ("richpush_logins_refused", "counter"), ("richpush_renditions", "counter"),
        ("richpush_prepared_bytes", "gauge"), ("richpush_prepared_files", "gauge"),
        ("richpush_prepared_evicted", "counter"), ("richpush_plugin_calls", "gauge"),
        ("richpush_plugin_refused", "counter"), ("richpush_plugin_seconds", "summary"),
        ("richpush_plugin_failures", "counter"), ("richpush_streams", "gauge"),
        ("richpush_assets", "gauge"),
        ("richpush_pushes", "counter"), ("richpush_push_lane_paused", "gauge"),
        ("richpush_push_waiting", "gauge"), ("richpush_push_oldest_seconds", "gauge"),
        ("richpush_receipts_dropped", "counter"),
      ] {
        #expect(families[name] == type, "\(name)")
      }
      let media = #"{route="/api/notifications/{}",method="GET",status="200"}"#
      #expect(try server.measured("richpush_http_requests_total" + media) == 3)
      #expect(
        try server.measured(#"richpush_http_response_bytes_total{route="/api/notifications/{}"}"#)
          > 0)
      for sample in [
        "richpush_build_info{version=", "richpush_http_connections ",
        #"richpush_renditions_total{outcome="coalesced"}"#,
        #"richpush_renditions_total{outcome="evicted"}"#,
        #"richpush_plugin_calls{type="img",state="waiting"}"#,
        #"richpush_plugin_refused_total{type="img"}"#,
        #"richpush_http_response_seconds_bucket{route="/api/notifications/{}",le="+Inf"}"#,
      ] {
        #expect(page.text.contains("\n" + sample), "\(sample)")
      }
      let lost = #"{route="unknown",method="GET",status="404"}"#
      #expect(try server.measured("richpush_http_requests_total" + lost) == 1)
      let bad = #"{route="unreadable",method="",status="400"}"#
      #expect(try server.measured("richpush_http_requests_total" + bad) == 1)
      let seconds = #"_count{route="/api/notifications/{}"}"#
      #expect(try server.measured("richpush_http_response_seconds" + seconds) == 3)
      try await eventually("the sample's renditions are made, in the background") {
        try server.measured(#"richpush_renditions_total{outcome="made"}"#) >= 7
      }
      #expect(try server.measured(#"richpush_renditions_total{outcome="hit"}"#) >= 2)
      #expect(
        try server.measured(#"richpush_plugin_seconds_count{type="img",verb="render"}"#) >= 7)
      #expect(try server.measured("richpush_prepared_files") >= 1)
    }
  }

  /// The families and their types, read by Prometheus' own library.
  private static func families(of page: [UInt8]) async throws -> [String: String] {
    let program = """
      import sys
      from prometheus_client.parser import text_fd_to_metric_families
      for family in text_fd_to_metric_families(sys.stdin):
          names = {sample.name for sample in family.samples}
          assert len(family.samples) == len({(s.name, tuple(sorted(s.labels.items()))) for s in family.samples})
          assert family.documentation
          print(family.name, family.type)
      """
    let result = try await Tool.run("python", ["-c", program], input: page)
    #expect(result.exitCode == 0, "\(result.errors)")
    return Dictionary(
      result.output.map { line in
        let words = line.split(separator: " ").map(String.init)
        return (words[0], words[1])
      }
    ) { $1 }
  }
}

extension RawConnection {
  /// Whether the server said 400.
  static func isRefused(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: Array("HTTP/1.1 400 ".utf8))
  }
}
