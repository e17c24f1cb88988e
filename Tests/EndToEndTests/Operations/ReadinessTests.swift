import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// What the server says of itself when it is full, and that it goes on for those it can serve.
@Suite(.timeLimit(.minutes(5))) struct ReadinessTests {
  @Test func `a stuck plugin turns readyz red, others are served, and it turns green again`()
    async throws
  {
    let flag = FileManager.default.temporaryDirectory.appending(path: "flag-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: flag) }
    try await RunningServer.lend(flags: ["--demo", "--sandbox", "off"]) { scratch in
      try scratch.addWaitingType()
    } to: { server in
      let alice = server.client("alice")
      _ = try await alice.create(.logo(to: "alice"))
      #expect(try server.get("/readyz").status == 200)
      let asking = try (0..<3).map { _ in try RawConnection(port: server.port) }
      for (number, connection) in asking.enumerated() {
        connection.send(RunningServer.posting("\(number)", waitingFor: flag))
      }
      try await eventually("readyz is red") { try server.get("/readyz").status == 503 }
      let red = try server.get("/readyz")
      #expect(red.text.contains("slow") && red.fields["retry-after"] != nil)
      #expect(try server.get("/healthz").status == 200)
      #expect(try await alice.media(0).contentType == "image/png")
      #expect(try server.measured(#"richpush_plugin_calls{type="slow",state="running"}"#) == 1)
      try await eventually("the waiting ones are refused") {
        try server.measured(#"richpush_plugin_refused_total{type="slow"}"#) == 2
      }

      try Data().write(to: flag)
      try await eventually("readyz is green again") { try server.get("/readyz").status == 200 }
      var statuses: [Int] = []
      for connection in asking {
        let answer = try connection.answer()
        statuses.append(answer.status)
        if answer.status == 503 { #expect(answer.fields["retry-after"] != nil) }
      }
      #expect(statuses.sorted() == [201, 503, 503])
    }
  }
}

extension ReadinessTests {
  @Test func `publishers are told that a push service fails, while phones are served`() async throws
  {
    let services = try PushServices()
    try await RunningServer.lend(
      flags: ["--demo", "--push", "apns"], environment: services.environment
    ) { server in
      let alice = server.client("alice")
      try await alice.register(handle: "AB12")
      #expect(try server.get("/readyz?for=publishing").status == 200)
      try services.apns.answer(["*": [["status": 503, "reason": "ServiceUnavailable"]]])
      var new = NewNotification.logo(to: "alice")
      new.form = .alert
      for _ in 0..<10 { _ = try await alice.create(new) }
      try await eventually("publishers are told") {
        let answer = try server.get("/readyz?for=publishing")
        return answer.status == 503 && answer.text.contains("push services fail: apns")
      }
      #expect(try server.get("/readyz").status == 200)
      #expect(server.log.contains("publishing is disturbed: Pushes wait"))
      try services.apns.answer([:])
      try await eventually("the service is back") {
        try server.get("/readyz?for=publishing").status == 200
      }
      #expect(try server.get("/readyz?for=nobody").status == 400)
      #expect(try server.get("/readyz?probe=7").status == 200, "a balancer's own parameter")
    }
  }
}

extension Scratch {
  /// The rich type `slow`, whose one process at a time waits until the file is there that the payload
  /// names; for servers whose sandbox is off.
  func addWaitingType() throws {
    try drop(
      Array(
        """
        {"protocol":1,"name":"slow","executable":"slow","mode":"cgi","verbs":["render"],
         "accepts":["text/plain"],"produces":["text/plain"],
         "limits":{"seconds":30},"workers":{"max":1}}
        """.utf8), as: "plugins/slow/plugin.json")
    try drop(
      Array(
        """
        #!/bin/sh
        while [ ! -e "$RICH_PAYLOAD" ]; do sleep 0.1; done
        printf 'Content-Type: text/plain\\n\\ndone\\n'
        """.utf8), as: "plugins/slow/slow", executable: true)
  }
}

extension RunningServer {
  /// The bytes of a request by alice for a notification of that rich type to herself.
  static func posting(_ message: String, waitingFor flag: URL) -> [UInt8] {
    let body =
      #"{"message":"\#(message)","richType":"slow","payload":"\#(flag.path)","to":["username:alice"]}"#
    return Array(
      """
      POST /api/notifications HTTP/1.1\r
      \(credentials("alice"))\r
      Host: localhost\r
      Content-Length: \(body.utf8.count)\r
      \r
      \(body)
      """.utf8)
  }
}
