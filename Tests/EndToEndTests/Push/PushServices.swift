import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// A stand-in for each push service, and what tells a server of them.
struct PushServices {
  let apns: StandIn
  let azure: StandIn
  let webhook: StandIn
  let flags = ["--demo", "--push", "embedded,azure,apns,webhook"]
  let environment: [String: String]
  private let scratch: Scratch

  /// Stand-ins for all; the server also trusts `others`, which the environment names.
  init(others: [StandIn] = [], _ more: [String: String] = [:]) throws {
    scratch = try Scratch()
    (apns, azure) = (try StandIn("apns"), try StandIn("hub"))
    webhook = try StandIn("hub")
    let authorities = try ([apns, azure, webhook] + others).map {
      try String(contentsOfFile: $0.certificates, encoding: .utf8)
    }
    let anchor = try scratch.drop(Array(authorities.joined().utf8), as: "ca.pem")
    let own = [
      "RICHPUSH_PUSH_CA": anchor.path,
      "RICHPUSH_APNS_KEY_FILE": apns.folder + "/key.p8", "RICHPUSH_APNS_KEY_ID": "ABC123DEFG",
      "RICHPUSH_APNS_TEAM_ID": "DEF123GHIJ", "RICHPUSH_APNS_TOPIC": "com.example.richpush",
      "RICHPUSH_APNS_ENDPOINT": apns.url,
      "RICHPUSH_AZURE_CONNECTION_STRING": "Endpoint=sb://localhost:\(azure.port)/;"
        + "SharedAccessKeyName=DefaultFullSharedAccessSignature;"
        + "SharedAccessKey=c2VjcmV0IHRleHQgdGhhdCBsb29rcyBsaWtlIGJhc2U2NA==",
      "RICHPUSH_AZURE_HUB": "phones", "RICHPUSH_WEBHOOK_URL": webhook.url + "/hook",
      "RICHPUSH_WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ]
    environment = own.merging(more) { $1 }
  }

  /// Starts a server that uses them all, or some of the lanes.
  static func lend(
    lanes: String = "embedded,azure,apns,webhook", flags: [String] = [],
    to body: (RunningServer, PushServices) async throws -> Void
  ) async throws {
    let services = try PushServices()
    try await RunningServer.lend(
      flags: ["--demo", "--push", lanes] + flags, environment: services.environment
    ) { try await body($0, services) }
  }
}

/// A push as a stand-in got it.
struct SeenPush {
  let fields: [String: String]
  let text: String
  let json: JSONValue

  init(_ request: [String: Any]) throws {
    let pairs = (request["headers"] as? [String: String] ?? [:]).map { ($0.lowercased(), $1) }
    fields = Dictionary(pairs) { $1 }
    text = request["body"] as? String ?? ""
    json = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
  }
}

extension StandIn {
  /// Waits for so many requests, and gives them.
  func pushes(_ count: Int) async throws -> [SeenPush] {
    var seen: [SeenPush] = []
    try await eventually("\(count) pushes come") {
      let requests = try tell(["do": "requests"])["requests"] as? [[String: Any]] ?? []
      seen += try requests.map(SeenPush.init)
      return seen.count >= count
    }
    return seen
  }
}

extension RunningServer {
  /// The details of a notification, as its publisher sees them.
  func details(_ id: Int, as user: String = "shop") throws -> JSONValue {
    try json("/api/notifications/\(id)/details", as: user)
  }

  func json(_ path: String, as user: String) throws -> JSONValue {
    let credentials = Data("\(user):\(user)".utf8).base64EncodedString()
    let answer = try RawConnection(port: port).exchange(
      "GET \(path) HTTP/1.1\r\nAuthorization: Basic \(credentials)\r\n")
    return try JSONDecoder().decode(JSONValue.self, from: Data(answer.body))
  }

  /// How far each delivery of a notification has come, as `<lane> <state>`, in order.
  func deliveries(of id: Int) throws -> [String] {
    guard case .array(let items) = try details(id).deliveries else { return [] }
    return items.map { "\($0.lane.text ?? "") \($0.state.text ?? "")" }.sorted()
  }
}
