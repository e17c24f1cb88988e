import Foundation
import StandIns
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct PushConfigurationTests {
  private let azure = [
    "RICHPUSH_AZURE_CONNECTION_STRING":
      "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=b",
    "RICHPUSH_AZURE_HUB": "hub",
  ]
  private let webhook = [
    "RICHPUSH_WEBHOOK_URL": "https://example.com/push",
    "RICHPUSH_WEBHOOK_SECRET": "a secret of more than 24 bytes",
  ]

  /// Runs `body` with the path of a file that holds `text`.
  private func withFile<Value>(_ text: String, _ body: (String) throws -> Value) throws -> Value {
    let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try text.write(to: url, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: url) }
    return try body(url.path)
  }

  private func complaint(_ list: String, _ environment: [String: String]) -> String {
    do {
      _ = try PushConfiguration(list, environment: environment)
      return ""
    } catch {
      return error.reason
    }
  }

  @Test func `needs nothing for the embedded gateway`() throws {
    let configuration = try PushConfiguration("embedded", environment: [:])
    #expect(configuration.lanes.isEmbedded)
    #expect(try configuration.providers().isEmpty)
  }

  @Test func `makes a provider for every service in the list`() throws {
    let all = azure.merging(webhook) { $1 }
    let configuration = try PushConfiguration("webhook, azure", environment: all)
    #expect(try configuration.providers().map(\.name) == ["azure", "webhook"])
    #expect(!configuration.lanes.isEmbedded)
  }

  @Test func `names the variable that is missing or wrong`() throws {
    for name in azure.keys {
      var environment = azure
      environment[name] = nil
      #expect(complaint("azure", environment).contains(name))
    }
    #expect(complaint("azure", azure.merging(["RICHPUSH_AZURE_HUB": "a b"]) { $1 }).contains("a b"))
    for list in ["azure-fcmv1", "azure-browser"] {
      #expect(complaint(list, [:]).contains("RICHPUSH_AZURE_"))
      #expect(complaint(list, azure) == "")
    }
    let both = azure.merging(["RICHPUSH_FCM_MESSAGES": "both"]) { $1 }
    #expect(complaint("azure-fcmv1", both).contains("RICHPUSH_FCM_MESSAGES"))
    let names = PushConfiguration.variables.map(\.name)
    #expect(Set(names).count == names.count)
    for name in webhook.keys {
      #expect(complaint("webhook", webhook.merging([name: ""]) { $1 }).contains(name))
    }
    let plain = webhook.merging(["RICHPUSH_WEBHOOK_URL": "http://127.0.0.1.evil/"]) { $1 }
    #expect(complaint("webhook", plain).contains("https"))
    #expect(complaint("gcm", [:]).contains("\"gcm\" is no push service"))
    #expect(complaint("fcm", [:]).contains("RICHPUSH_FCM_CREDENTIALS_FILE is not set"))
    let anchor = webhook.merging(["RICHPUSH_PUSH_CA": "/dev/null"]) { $1 }
    #expect(complaint("webhook", anchor).contains("RICHPUSH_PUSH_CA"))
  }

  @Test func `says what is wrong with Apple's settings`() throws {
    let environment = [
      "RICHPUSH_APNS_KEY_FILE": "/nowhere/key.p8", "RICHPUSH_APNS_KEY_ID": "ABC123DEFG",
      "RICHPUSH_APNS_TEAM_ID": "DEF123GHIJ", "RICHPUSH_APNS_TOPIC": "com.example",
    ]
    #expect(complaint("apns", environment).contains("/nowhere/key.p8"))
    try withFile("no key at all") { path in
      let readable = environment.merging(["RICHPUSH_APNS_KEY_FILE": path]) { $1 }
      #expect(complaint("apns", readable).hasPrefix("RICHPUSH_APNS_KEY_FILE: The private key"))
      let short = readable.merging(["RICHPUSH_APNS_TEAM_ID": "ABC"]) { $1 }
      #expect(complaint("apns", short).contains("RICHPUSH_APNS_TEAM_ID is \"ABC\""))
    }
  }

  @Test func `says what is wrong with Firebase's settings`() throws {
    let service = try StandIn("fcm")
    let good = ["RICHPUSH_FCM_CREDENTIALS_FILE": service.folder + "/service-account.json"]
    #expect(complaint("fcm", good) == "")
    let shown = good.merging(["RICHPUSH_FCM_MESSAGES": "notification"]) { $1 }
    for (environment, kind) in [(good, FCMMessageKind.data), (shown, .notification)] {
      let lanes = try PushConfiguration("fcm", environment: environment).lanes
      #expect(lanes.format(of: FCMProvider.self) == .firebase(kind))
      let hub = environment.merging(azure) { $1 }
      let azure = try PushConfiguration("azure-fcmv1", environment: hub).lanes
      #expect(azure.format(of: AzureFirebaseProvider.self) == .firebase(kind))
    }
    for (name, value) in [
      ("RICHPUSH_FCM_CREDENTIALS_FILE", "/nowhere"), ("RICHPUSH_FCM_MESSAGES", "both"),
      ("RICHPUSH_FCM_ENDPOINT", "http://a.example"),
    ] {
      #expect(complaint("fcm", good.merging([name: value]) { $1 }).contains(name))
    }
    try withFile("{}") { path in
      let text = complaint("fcm", ["RICHPUSH_FCM_CREDENTIALS_FILE": path])
      #expect(text.hasPrefix("RICHPUSH_FCM_CREDENTIALS_FILE: The service account can't be used"))
    }
  }

  @Test func `takes a secret from a file`() throws {
    var environment = webhook
    try withFile("a secret of more than 24 bytes\n") { path in
      environment["RICHPUSH_WEBHOOK_SECRET_FILE"] = path
      #expect(complaint("webhook", environment).contains("only one"))
      environment["RICHPUSH_WEBHOOK_SECRET"] = nil
      #expect(complaint("webhook", environment) == "")
    }
  }
}
