import Foundation
import RichPushAPI
import StandIns
import Testing

@testable import Push

/// One Web Push service, with a stand-in that refuses what the real ones refuse.
@Suite(.timeLimit(.minutes(1))) struct WebPushProviderTests {
  private func settings(_ service: StandIn, allowed: Bool = true) throws -> WebPushSettings {
    try WebPushSettings(
      contact: "mailto:ops@example.com", allowed: allowed ? ["localhost:\(service.port)"] : [])
  }

  private func provider(
    _ service: StandIn, allowed: Bool = true, timeout: Duration = .seconds(20),
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws -> WebPushProvider {
    try WebPushSender(
      key: .sample, settings: settings(service, allowed: allowed),
      trustAnchor: service.certificates, timeout: timeout, now: now
    ).provider(for: service.url)
  }

  private func requests(_ service: StandIn) throws -> [[String: Any]] {
    try #require(try service.tell(["do": "requests"])["requests"] as? [[String: Any]])
  }

  @Test func `a receiver reads what is sent, and the service accepts every field`() async throws {
    let service = try StandIn("webpush")
    try service.tell(["do": "key", "key": VAPIDKey.sample.publicKey])
    let now = Date.thisSecond
    let push = OutgoingPush(
      id: "1", target: try service.subscribe("a"),
      text: PushPayload(.alert, json: #"{"richId":"7","richMessage":"Schön 🦊"}"#),
      collapseID: "rich-7", expires: now + 90)
    let provider = try provider(service, now: { now })
    guard case .delivered(let reference) = await provider.send(push) else {
      Issue.record("not delivered")
      return
    }
    #expect(reference?.hasPrefix(service.url + "/m/") == true)
    let request = try #require(try requests(service).first)
    #expect(request["text"] as? String == push.text.json)
    #expect(request["length"] as? Int == 615)
    let headers = try #require(request["headers"] as? [String: String])
    #expect(headers["Urgency"] == "high")
    #expect(headers["TTL"] == "90")
    #expect(headers["Topic"]?.count == 32)
  }

  @Test func `without an end a push is kept for four weeks, and a silent one is not urgent`()
    async throws
  {
    let service = try StandIn("webpush")
    let push = OutgoingPush(
      id: "1", target: try service.subscribe("a"), text: PushPayload(.background, json: "{}"))
    _ = try await provider(service).send(push)
    let headers = try #require(try requests(service).first?["headers"] as? [String: String])
    #expect(headers["TTL"] == "2419200")
    #expect(headers["Urgency"] == "normal")
    #expect(headers["Topic"] == nil)
  }

  @Test func `acts on every answer`() async throws {
    let service = try StandIn("webpush")
    let push = OutgoingPush.web(try service.subscribe("a"))
    let cases: [(step: [String: Any], check: (PushOutcome) -> Bool)] = [
      (["status": 201], { if case .delivered(.some) = $0 { true } else { false } }),
      (["status": 202], { $0 == .delivered(reference: nil) }),
      (["status": 404], { if case .deadToken(nil, _) = $0 { true } else { false } }),
      (["status": 410], { if case .deadToken(nil, _) = $0 { true } else { false } }),
      (["status": 400], { if case .rejected = $0 { true } else { false } }),
      (
        ["status": 302, "headers": ["Location": service.url + "/push/b"]],
        { if case .rejected(let reason) = $0 { reason.contains("redirect") } else { false } }
      ),
      (
        ["status": 429, "headers": ["Retry-After": "9"]],
        { if case .throttled(.seconds(9), _) = $0 { true } else { false } }
      ),
      (["status": 503], { if case .throttled(nil, _) = $0 { true } else { false } }),
      (["act": "drop"], { if case .unavailable(nil, _) = $0 { true } else { false } }),
      (["act": "garbage"], { if case .unavailable(nil, _) = $0 { true } else { false } }),
      (
        ["act": "heads", "status": 201],
        { if case .unavailable(nil, _) = $0 { true } else { false } }
      ),
      (
        ["act": "endless", "status": 201],
        { if case .delivered = $0 { true } else { false } }
      ),
      (
        ["status": 418, "raw": "long\u{1B}[31m ", "times": 100_000],
        {
          if case .rejected(let reason) = $0 {
            reason.count < 300 && !reason.contains("\u{1B}")
          } else {
            false
          }
        }
      ),
    ]
    let provider = try provider(service)
    for (step, check) in cases {
      try service.answer(["*": [step]])
      let outcome = await provider.send(push)
      #expect(check(outcome), "\(step): \(outcome)")
    }
  }

  @Test func `a service that never answers takes no longer than the timeout`() async throws {
    let service = try StandIn("webpush")
    try service.answer(["*": [["act": "silence"]]])
    let start = ContinuousClock.now
    let outcome = try await provider(service, timeout: .seconds(1))
      .send(.web(try service.subscribe("a")))
    guard case .unavailable = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(ContinuousClock.now - start < .seconds(15))
  }

  @Test func `what is too large is sent once more with the id only`() async throws {
    let service = try StandIn("webpush")
    let target = try service.subscribe("a")
    try service.answer(["a": [["status": 413], ["status": 201]]])
    var message = PushMessage(
      7, NotificationMessage(String(repeating: "x", count: 900)), richType: nil, form: .alert)
    let push = OutgoingPush(
      id: "1", target: target, message: message,
      text: PayloadTemplate.web(message).payload())
    guard case .delivered = try await provider(service).send(push) else {
      Issue.record("not delivered")
      return
    }
    #expect(
      try requests(service).map { $0["text"] as? String } == [push.text.json, #"{"richId":"7"}"#])
    // Of one that replaces another the tag is left, too.
    (message.message.replaces, message.collapseID) = ("order", "replaces-0f")
    try service.answer(["a": [["status": 413], ["status": 201]]])
    _ = try await provider(service).send(
      OutgoingPush(
        id: "2", target: target, message: message, text: PayloadTemplate.web(message).payload()))
    #expect(
      try requests(service).last?["text"] as? String == #"{"richId":"7","tag":"replaces-0f"}"#)
    try service.answer(["a": [["status": 413]]])
    guard case .rejected = try await provider(service).send(push) else {
      Issue.record("not rejected")
      return
    }
    #expect(try requests(service).count == 2)
  }

  @Test func `a push goes without its topic where the service does not take that`() async throws {
    let service = try StandIn("webpush")
    let push = OutgoingPush(
      id: "1", target: try service.subscribe("a"), text: PushPayload(.alert, json: "{}"),
      collapseID: "rich-7")
    try service.answer(["a": [["status": 400, "raw": "BadWebPushTopic"], ["status": 201]]])
    guard case .delivered = try await provider(service).send(push) else {
      Issue.record("not delivered")
      return
    }
    let headers = try requests(service).map { try #require($0["headers"] as? [String: String]) }
    #expect(headers.map { $0["Topic"] != nil } == [true, false])
  }

  @Test func `a key that a service refuses pauses it, but one foreign subscription does not`()
    async throws
  {
    let service = try StandIn("webpush")
    let provider = try provider(service)
    let push = OutgoingPush.web(try service.subscribe("a"))
    try service.tell(["do": "key", "key": "another"])
    guard case .unavailable(.seconds(60), let reason) = await provider.send(push) else {
      Issue.record("It was not paused.")
      return
    }
    #expect(reason.contains("belongs to another key") && reason.contains("--push-contact"))
    try service.tell(["do": "key", "key": VAPIDKey.sample.publicKey])
    guard case .delivered = await provider.send(push) else {
      Issue.record("not delivered")
      return
    }
    try service.tell(["do": "key", "key": "another"])
    guard case .retry = await provider.send(push) else {
      Issue.record("One foreign subscription pauses all.")
      return
    }
  }

  @Test func `connects to no address that is not public, unless the operator allows it`()
    async throws
  {
    let service = try StandIn("webpush")
    let target = try service.subscribe("a")
    guard
      case .rejected(let reason) = try await provider(service, allowed: false).send(.web(target))
    else {
      Issue.record("It was sent.")
      return
    }
    #expect(reason.contains("--push-allow"))
    #expect(try requests(service).isEmpty)
  }

  @Test(arguments: [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.1", "0x7f000001", "2130706433",
    "168.63.129.16", "169.254.169.254", "172.16.0.1", "192.168.1.1", "198.18.0.1", "224.0.0.1",
    "255.255.255.255", "localhost", "[::]", "[::1]", "[::ffff:127.0.0.1]",
    "[::ffff:169.254.169.254]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]", "[ff02::1]",
  ])
  func `connects to none of these`(host: String) async throws {
    let sender = try WebPushSender(
      key: .sample, settings: WebPushSettings(contact: "mailto:ops@example.com"),
      timeout: .seconds(5))
    let endpoint = try WebPushEndpoint("https://\(host)/push/a")
    let outcome = await sender.provider(for: endpoint.origin)
      .send(.web(.subscription(endpoint: endpoint.url, keys: WebPushKeys.sample)))
    guard case .rejected(let reason) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(reason.contains("not public"))
  }

  @Test func `connects to what its own resolver tells, never to what libcurl would find`()
    async throws
  {
    let service = try StandIn("webpush")
    // A name that no name server knows, or that changes between two questions.
    let names = ["push.invalid", "Push.Invalid.", "localhost"]
    for (addresses, allowed, expected) in [
      (["127.0.0.1"], false, "not public"), (["[::ffff:127.0.0.1]"], false, "not public"),
      (["10.0.0.1", "127.0.0.1"], false, "not public"), (["127.0.0.1"], true, "can't be reached"),
    ] {
      for name in names {
        let endpoint = try WebPushEndpoint("https://\(name):\(service.port)/push/a")
        let sender = try WebPushSender(
          key: .sample,
          settings: WebPushSettings(
            contact: "mailto:ops@example.com", allowed: allowed ? [endpoint.hostAndPort] : []),
          timeout: .seconds(10), resolver: HostResolver { _ in .addresses(addresses) })
        let outcome = await sender.provider(for: endpoint.origin)
          .send(.web(.subscription(endpoint: endpoint.url, keys: WebPushKeys.sample)))
        #expect(outcome.reason?.contains(expected) == true, "\(name) \(addresses): \(outcome)")
        #expect(outcome.reason?.contains("resolve") != true, "\(outcome)")
      }
    }
    #expect(try requests(service).isEmpty, "its certificate is not trusted")
  }

  @Test func `a name without an address pauses its service, and waiting names only their user`()
    async throws
  {
    let endpoint = try WebPushEndpoint("https://push.invalid/a")
    func send(_ answer: HostResolver.Answer) async throws -> PushOutcome {
      let sender = try WebPushSender(
        key: .sample, settings: WebPushSettings(contact: "mailto:ops@example.com"),
        resolver: HostResolver { _ in answer })
      return await sender.provider(for: endpoint.origin)
        .send(.web(.subscription(endpoint: endpoint.url, keys: WebPushKeys.sample), user: 1))
    }
    #expect(try await send(.failed("why")) == .unavailable(after: nil, reason: "why"))
    guard case .held(.seconds(1), _) = try await send(.held) else {
      Issue.record("It is not held.")
      return
    }
  }

  @Test(arguments: [
    "http://push.example/a", "https:///a", "https://", "https://user@push.example/", "ftp://a/",
    "https://user:word@push.example/", "https://push.example:0/", "https://push.example:65536/",
    "https://push.example:08/", "https://push.example\\@10.0.0.1/", "https://push.example/#a",
    "https://push.example/a b", "https://püsh.example/", "https://[::1/", "https://[::1]x/",
    "https://a%2eb/", "HTTPS:/push.example", "https:push.example", "//push.example/", "",
    "https://push.example/\u{0}", "https://push.example/\r\nX: y", "https://push.example:443:443/",
    "http://127.0.0.1:80/a",
  ])
  func `is no endpoint`(text: String) {
    #expect(throws: PushError.self) { try WebPushEndpoint(text) }
  }

  @Test func `an endpoint has at most 1,000 bytes`() throws {
    let url = "https://push.example/" + String(repeating: "a", count: 979)
    #expect(try WebPushEndpoint(url).url.utf8.count == 1000)
    #expect(throws: PushError.self) { try WebPushEndpoint(url + "a") }
  }

  @Test func `the origin of an endpoint is that of RFC 6454`() throws {
    let origins = [
      ("https://Push.Example/a?b", "https://push.example"),
      ("https://push.example:443", "https://push.example"),
      ("https://push.example:8443/a", "https://push.example:8443"),
      ("https://[2A00::1]:8443/a", "https://[2a00::1]:8443"),
    ]
    for (url, origin) in origins { #expect(try WebPushEndpoint(url).origin == origin) }
    #expect(
      try WebPushEndpoint("http://127.0.0.1:81/a", allowsPlain: true).origin
        == "http://127.0.0.1:81")
    #expect(throws: PushError.self) {
      try WebPushEndpoint("http://push.example/a", allowsPlain: true)
    }
  }

  @Test(arguments: [nil, "", "ops@example.com", "mailto:", "mailto:ops", "https://", "https://a b"])
  func `starts with no contact that services refuse`(contact: String?) {
    #expect(throws: PushError.self) { try WebPushSettings(contact: contact) }
  }

  @Test(arguments: [
    "mailto:admin@localhost", "mailto:ops@host.local", "mailto:a@b", "mailto:@", "mailto:a@",
    "mailto:@example.com", "mailto:ops@192.168.1.5", "mailto:ops@[192.168.1.5]",
    "mailto:<ops@example.com>", "mailto:ops@example..com", "mailto:ops@example.com.",
    "mailto:ops@vault.internal", "mailto:ops@nas.lan", "mailto:ops@a.test",
    "mailto:a@b@example.com",
    "mailto:ops@example.com,b@example.com", "mailto:o..ps@example.com", "mailto:ops@LOCALHOST",
    "https://localhost", "https://.", "https://localhost:8443/contact", "https://10.0.0.1/",
    "https://192.168.1.5", "https://[::1]/", "https://[fd00::1]", "https://0x7f.1",
    "https://intranet",
    "https://app.localhost", "https://ops@printer.local/x", "https://?a", "https://172.16.0.9:443",
    "https://169.254.169.254/", "https://-a.example.com", "https://100.64.0.1",
  ])
  func `a contact that Apple refuses is accepted with a warning that says why`(
    contact: String
  ) throws {
    let problem = try #require(try WebPushSettings(contact: contact).contactProblem)
    #expect(problem.contains("--push-contact \(contact)") && problem.contains("Apple"))
  }

  @Test(arguments: [
    "mailto:ops@example.com", "https://example.com/contact", "mailto:o.p+s@mail.example.co.uk",
    "https://Example.com", "https://93.184.215.14/", "https://[2606:2800::1]:8443/a",
    "mailto:ops@xn--bcher-kva.example.net", "mailto:ops@example.com?subject=push",
    "https://a.example.com?x=[1]",
  ])
  func `a contact at which the Internet reaches the operator is accepted without one`(
    contact: String
  ) throws {
    #expect(try WebPushSettings(contact: contact).contactProblem == nil)
  }

  @Test(arguments: ["a b", "https://a", "a/b", "", "10.0.0.0/8"])
  func `allows only hosts and ports`(entry: String) {
    #expect(throws: PushError.self) {
      try WebPushSettings(contact: "https://a.example", allowed: [entry])
    }
  }

  @Test func `sends few at once until a service has proved to answer`() {
    var window = OriginWindow()
    #expect(window.size == 4)
    for _ in 0..<100 { window.record(.delivered(reference: nil), took: .milliseconds(50)) }
    #expect(window.size == 64)
    for _ in 0..<100 { window.record(.delivered(reference: nil), took: .milliseconds(1)) }
    #expect(window.size == 16)
    for _ in 0..<9 { window.record(.unavailable(after: nil, reason: ""), took: .seconds(20)) }
    #expect(window.size == 1)
  }
}

extension VAPIDKey {
  static var sample: VAPIDKey {
    get throws { try VAPIDKey(hexadecimal: String(repeating: "1f", count: 32)) }
  }
}

extension WebPushKeys {
  /// The keys of RFC 8291's example.
  static let sample =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    + ".BTBZMqHH6r4Tts7J_aSIgg"
}

extension OutgoingPush {
  static func web(_ target: Target, _ number: Int = 1, user: Int? = nil) -> OutgoingPush {
    OutgoingPush(
      id: String(number), target: target, user: user,
      text: PushPayload(.alert, json: #"{"richId":"\#(number)"}"#))
  }
}

extension StandIn {
  /// Makes a subscription at a Web Push service.
  func subscribe(_ name: String) throws -> OutgoingPush.Target {
    let subscription = try tell(["do": "subscribe", "name": name])
    let texts = try ["endpoint", "p256dh", "auth"].map { try #require(subscription[$0] as? String) }
    return .subscription(endpoint: texts[0], keys: texts[1] + "." + texts[2])
  }
}
