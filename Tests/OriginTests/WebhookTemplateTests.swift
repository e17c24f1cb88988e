import FoundationEssentials
import RichPushAPI
import Testing

@testable import Origin

/// What templates make of events, in the forms that their senders document.
@Suite struct WebhookTemplateTests {
  private static func json(_ text: String) throws -> JSONValue {
    try #require(JSONValue(text.utf8), "\(text)")
  }

  private static func action(
    _ template: JSONValue, _ event: String, _ fields: [String: String] = [:],
    at webhook: String = "alerts"
  ) throws -> WebhookTemplate.Action {
    try WebhookTemplate(given: template).action(
      for: WebhookEvent(body: json(event), fields: fields), to: ["news"], linkSchemes: []
    ).named(at: webhook)
  }

  /// The notification that an event becomes.
  private static func sent(
    _ template: JSONValue, _ event: String, _ fields: [String: String] = [:],
    at webhook: String = "alerts"
  ) throws -> NewNotification {
    let action = try action(template, event, fields, at: webhook)
    guard case .publish(let new) = action else {
      Issue.record("\(action)")
      throw CancellationError()
    }
    return new
  }

  // MARK: - Shipped templates

  /// Version 4 of Alertmanager's payload.
  private static func alert(
    _ status: String, severity: String = "warning", startsAt: String = "2026-11-29T10:00:00Z",
    annotations: String = #"{"summary":"web-1 is slow","description":"2 s"}"#
  ) -> String {
    let labels =
      #"{"alertname":"Latency","instance":"web-1","severity":"\#(severity)"}"#
    return #"""
      {"receiver":"push","status":"\#(status)","alerts":[{"status":"\#(status)","labels":\#(labels),
       "annotations":\#(annotations),"startsAt":"\#(startsAt)","endsAt":"0001-01-01T00:00:00Z",
       "generatorURL":"http://prometheus:9090/graph?g0.expr=up","fingerprint":"9f2a1c"}],
       "groupLabels":{"alertname":"Latency"},"commonLabels":\#(labels),
       "commonAnnotations":\#(annotations),"externalURL":"http://alertmanager:9093","version":"4",
       "groupKey":"{}:{alertname=\"Latency\"}","truncatedAlerts":0}
      """#
  }

  @Test func `an alert of Alertmanager is sent once, and what resolves it takes its place`() throws
  {
    let template = JSONValue.string("alertmanager")
    let fired = try Self.sent(template, Self.alert("firing"))
    #expect(fired.message.title == "Latency" && fired.message.subtitle == "warning web-1")
    #expect(fired.message.text == "web-1 is slow\n2 s" && fired.form == .alert)
    #expect(fired.message.importance == nil && fired.audience == .anyTag(["news"]))
    #expect(fired.message.link == nil, "a link that phones cannot open is left out")
    let resolved = try Self.sent(template, Self.alert("resolved"))
    #expect(resolved.message.title == "Resolved: Latency" && resolved.message.importance == .low)
    #expect(resolved.message.replaces == fired.message.replaces && fired.message.replaces != nil)
    #expect(resolved.idempotencyKey != fired.idempotencyKey)
    #expect(try Self.sent(template, Self.alert("firing")).idempotencyKey == fired.idempotencyKey)
    let later = try Self.sent(template, Self.alert("firing", startsAt: "2026-11-29T11:00:00Z"))
    #expect(later.idempotencyKey != fired.idempotencyKey)
    let critical = try Self.sent(template, Self.alert("firing", severity: "critical"))
    #expect(critical.message.importance == .high)
    let bare = try Self.sent(template, Self.alert("firing", annotations: "{}"))
    #expect(bare.message.text.isEmpty && bare.message.title == "Latency")
    let other = try Self.sent(template, Self.alert("firing"), at: "ops")
    #expect(other.message.replaces != fired.message.replaces)
    #expect(other.idempotencyKey != fired.idempotencyKey)
  }

  @Test func `an alert of Grafana has its title`() throws {
    let event = #"""
      {"receiver":"push","status":"firing","orgId":1,"alerts":[{"status":"firing","labels":{"alertname":"Disk",
       "grafana_folder":"Servers","instance":"db-1"},"annotations":{"summary":"The disk is full"},
       "startsAt":"2026-11-29T10:00:00Z","endsAt":"0001-01-01T00:00:00Z","values":{"A":97},
       "valueString":"[ var='A' value=97 ]","fingerprint":"c6ea","silenceURL":"https://g.example/s",
       "dashboardURL":"","panelURL":""}],"groupLabels":{},"commonLabels":{"alertname":"Disk",
       "grafana_folder":"Servers","instance":"db-1"},"commonAnnotations":{"summary":"The disk is full"},
       "externalURL":"https://g.example/","version":"1","groupKey":"{}:{alertname=\"Disk\"}","truncatedAlerts":0,
       "title":"[FIRING:1] Disk Servers","state":"alerting","message":"**Firing**"}
      """#
    let new = try Self.sent(.string("grafana"), event)
    #expect(new.message.title == "[FIRING:1] Disk Servers")
    #expect(new.message.text == "The disk is full\n[ var='A' value=97 ]")
    #expect(new.message.subtitle == "Servers db-1" && new.message.link == "https://g.example/")
    #expect(new.message.replaces != nil && new.idempotencyKey != nil)
  }

  @Test(
    arguments: [
      (
        "push",
        #"""
        {"ref":"refs/heads/main","deleted":false,"created":false,"compare":"https://github.com/o/r/compare/a...b",
         "repository":{"full_name":"o/r"},"pusher":{"name":"ann"},"commits":[{"message":"One\n\nbody"},{"message":"Two"}]}
        """#, "One\n\nbody\nTwo"
      ),
      (
        "issues",
        #"{"action":"opened","issue":{"number":7,"title":"It {{breaks}}","html_url":"https://github.com/o/r/issues/7"},"repository":{"full_name":"o/r"},"sender":{"login":"ann"}}"#,
        "ann opened issue #7: It {{{{breaks}}"
      ),
      (
        "pull_request",
        #"{"action":"closed","number":8,"pull_request":{"title":"T","merged":true,"html_url":"https://github.com/o/r/pull/8"},"repository":{"full_name":"o/r"},"sender":{"login":"ann"}}"#,
        "ann merged #8: T"
      ),
      (
        "workflow_run",
        #"{"action":"completed","workflow_run":{"name":"CI","conclusion":"failure","display_title":"T","head_branch":"main","html_url":"https://github.com/o/r/actions/1"},"repository":{"full_name":"o/r"}}"#,
        "CI failed: T"
      ),
      ("ping", #"{"zen":"Design for failure."}"#, nil),
      ("issues", #"{"action":"labeled","repository":{"full_name":"o/r"}}"#, nil),
    ] as [(String, String, String?)])
  func `an event of GitHub is told by its field`(name: String, body: String, message: String?)
    throws
  {
    let fields = ["x-github-event": name, "x-github-delivery": "72d3162e"]
    guard let message else {
      #expect(try Self.action(.string("github"), body, fields) == .ignore)
      return
    }
    let new = try Self.sent(.string("github"), body, fields)
    #expect(new.message.title == "o/r" && new.message.text == message)
    #expect(new.message.link?.hasPrefix("https://github.com/o/r/") == true)
    #expect(new.idempotencyKey != nil)
  }

  // MARK: - Templates of one's own

  @Test(arguments: [
    ("{{a}}", #"{"a":"x"}"#, "x"), ("{{a|none}}", "{}", "none"), ("a{{b}}c", "{}", "ac"),
    ("{{a}}", #"{"a":1.5}"#, "1.5"), ("{{a}}", #"{"a":3}"#, "3"), ("{{a}}", #"{"a":true}"#, "true"),
    ("{{a|n}}", #"{"a":{"b":1}}"#, "n"), ("{{a|n}}", #"{"a":null}"#, "n"),
    ("{{a[1].b}}", #"{"a":[{"b":1},{"b":2}]}"#, "2"), ("{{a[2]|n}}", #"{"a":[1]}"#, "n"),
    ("{{a[].b}}", #"{"a":[{"b":1},{},{"b":2}]}"#, "1\n2"),
    ("{{a[][0]}}", #"{"a":[[1],[2]]}"#, "1\n2"),
    ("{{{{a}}", "{}", "{{{{a}}"), ("{{a}}", #"{"a":"{{name}}"}"#, "{{{{name}}"),
    ("{{a}}", #"{"a":"x\u0000\u001b[1m\u202ey\nz"}"#, "x[1my\nz"),
    ("{{@X-Event}}", "{}", "push"),
  ])
  func `a placeholder stands for what is at its path`(text: String, event: String, result: String)
    throws
  {
    let template = JSONValue.object([
      "notification": .object(["title": .string("T"), "message": .string(text)])
    ])
    let new = try Self.sent(template, event, ["x-event": "push"])
    #expect(new.message.text == result)
  }

  @Test func `texts are cut, lists end, and a title is one line`() throws {
    let template = try Self.json(
      #"{"notification":{"title":"{{a}}","message":"{{a}}","alt":"{{b[]}}","data":{"all":"{{b[]}}"},"to":["{{c}}"]}}"#
    )
    let long = String(repeating: "ä{{\\n", count: 3000)
    let list = (0..<12).map(String.init).joined(separator: ",")
    let new = try Self.sent(template, #"{"a":"\#(long)","b":[\#(list)],"c":"news"}"#)
    let title = try #require(new.message.title)
    #expect((200...256).contains(title.utf8.count) && title.hasSuffix("…") && !title.contains("\n"))
    #expect(new.message.text.utf8.count <= 4096 && new.message.text.hasSuffix("…"))
    #expect(new.message.faults(allowing: []).isEmpty)
    #expect(new.message.alt == "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n…")
    #expect(new.message.data?.all.text == (0..<12).map(String.init).joined(separator: " "))
    #expect(new.audience == .anyTag(["news"]))
  }

  @Test func `a link is the event's, or has its values encoded`() throws {
    func link(_ text: String, _ value: String) throws -> String? {
      let template = JSONValue.object([
        "notification": .object(["title": .string("T"), "link": .string(text)])
      ])
      return try Self.sent(template, #"{"a":"\#(value)"}"#).message.link
    }
    #expect(try link("{{a}}", "https://e.org/a b") == "https://e.org/a%20b")
    #expect(try link("{{a}}/x", "https://e.org") == "https://e.org/x")
    #expect(
      try link("https://e.org/{{a}}", "../b?c={{d}}") == "https://e.org/..%2Fb%3Fc%3D%7B%7Bd%7D%7D")
    for wrong in ["http://e.org", "javascript:alert(1)", "no link"] {
      #expect(try link("{{a}}", wrong) == nil)
    }
  }

  @Test func `the first rule whose conditions hold decides`() throws {
    let template = try Self.json(
      #"""
      {"rules":[
        {"when":{"kind":"end"},"withdraw":"{{id}}"},
        {"when":{"level":[3,4],"muted":[false,null]},"notification":{"message":"loud {{id}}","replaces":"{{id}}"}},
        {"when":{"tags[]":"b"},"notification":{"message":"b"}},
        {"when":{"level":null},"notification":{"message":"none"}}]}
      """#)
    for (event, text) in [
      (#"{"level":3,"id":"i"}"#, "loud i"), (#"{"level":"3"}"#, nil),
      (#"{"level":3,"muted":true}"#, nil),
      (#"{"level":4,"muted":false,"id":2}"#, "loud 2"), (#"{"tags":["a","b"],"level":1}"#, "b"),
      ("{}", "none"), ("[]", "none"), (#"{"level":null}"#, "none"),
    ] {
      let action = try Self.action(template, event)
      if case .publish(let new) = action {
        #expect(new.message.text == text, "\(event)")
      } else {
        #expect(action == .ignore && text == nil, "\(event)")
      }
    }
    let new = try Self.sent(template, #"{"level":3,"id":"i"}"#)
    let subject = try #require(new.message.replaces)
    #expect(try Self.action(template, #"{"kind":"end","id":"i"}"#) == .withdraw(subject: subject))
    #expect(throws: ServiceError.self, "there is nothing to withdraw") {
      try Self.action(template, #"{"kind":"end"}"#)
    }
  }

  @Test(arguments: [
    ("null", "must be the name"), ("7", "must be the name"),
    (#""slack""#, "must be one of alertmanager"), ("{}", "must have rules"),
    (#"{"rules":[]}"#, "1 to 50 rules"), (#"{"rules":{}}"#, "1 to 50 rules"),
    (#"{"notification":{"message":"{{a b}}"}}"#, "must have {{ only in"),
    (#"{"notification":{"message":"{{a"}}"#, "must have {{ only in"),
    (#"{"notification":{"message":"{{@Authorization}}"}}"#, "must have {{ only in"),
    (#"{"notification":{"message":"{{a[x]}}"}}"#, "must have {{ only in"),
    (#"{"notification":{"mesage":"a"}}"#, "“message”"),
    (#"{"notification":{"message":7}}"#, "message"),
    (#"{"notification":{"replaces":7}}"#, "must be a string"),
    (#"{"rules":[{"when":{"a..b":1},"notification":{"message":"a"}}]}"#, "paths as names"),
    (
      #"{"rules":[{"when":{"a":{}},"notification":{"message":"a"}}]}"#, "must be a string, a number"
    ),
    (
      #"{"rules":[{"withdraw":"a","notification":{"message":"a"}}]}"#,
      "either a notification or withdraw"
    ),
    (#"{"rules":[{"when":{}}]}"#, "must have a notification"),
    (#"{"rules":[7]}"#, "must be an object"),
    (#"{"rules":[{"if":{},"notification":{"message":"a"}}]}"#, "no “if”"),
    (
      #"{"notification":{"data":["\#((0..<65).map { "{{a\($0)}}" }.joined())"],"message":"a"}}"#,
      "64 placeholders"
    ),
    (
      #"{"notification":{"message":"\#(String(repeating: "{{a}}", count: 65))"}}"#,
      "64 placeholders"
    ),
    (#"{"notification":{"message":"\#(String(repeating: "a", count: 17_000))"}}"#, "16384 bytes"),
  ])
  func `a template that is none is refused with a sentence`(template: String, words: String) throws
  {
    let value = try Self.json(template)
    let error = #expect(throws: ServiceError.self) { try WebhookTemplate(given: value) }
    #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
    #expect(error?.faults.first?.member == "template" && error?.code.status == 422)
  }

  @Test func `an event without a sensible value becomes no valid notification`() throws {
    let template = try Self.json(
      #"{"notification":{"title":"{{t}}","importance":"{{i}}","actions":[{"id":"a","label":"{{l}}"}]}}"#
    )
    for event in ["{}", #"{"t":"a","l":"b","i":"very"}"#, #"{"t":"a"}"#] {
      #expect(throws: ServiceError.self, "\(event)") { try Self.action(template, event) }
    }
  }

  @Test func `the preview says what would be done`() throws {
    func preview(_ template: String, _ event: String) throws -> String {
      try WebhookPreview.text(
        Self.json(template), for: event.utf8, fields: ["X-GitHub-Event": "ping"], at: "a",
        to: ["news"], now: Date())
    }
    #expect(
      try preview(#"{"notification":{"message":"{{a}}"}}"#, #"{"a":"b"}"#)
        == #"{"message":"b","to":["news"]}"#)
    #expect(try preview(#""github""#, "{}").hasPrefix("nothing"))
    #expect(try preview(#"{"rules":[{"withdraw":"{{a}}"}]}"#, #"{"a":"b"}"#).hasPrefix("withdraws"))
    for (template, event) in [
      (#"{"notification":{"message":"{{a}}"}}"#, "{}"),
      (#"{"notification":{"message":"{{a}}"}}"#, "{"),
      (#"{"notification":{"message":"m","to":"all"}}"#, "{}"),
    ] {
      #expect(throws: ServiceError.self, "\(template)") { try preview(template, event) }
    }
  }
}
