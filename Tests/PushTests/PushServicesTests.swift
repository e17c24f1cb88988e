import Foundation
import RichPushAPI
import Testing

@testable import Push

/// What holds for every push service.
@Suite(.timeLimit(.minutes(1))) struct PushServicesTests {
  @Test(
    arguments: [
      "apns", "azure", "azure-fcmv1", "azure-browser", "webhook", "fcm",
      "webpush:https://push.example",
    ])
  func `a lane belongs to the service that its name begins with`(lane: String) {
    let service = PushServices.service(ofLane: lane)
    #expect(service.map { $0.name } == lane.split(separator: ":").first.map(String.init))
  }

  @Test(arguments: ["", "aps", "apns2", "embedded", "webpush", "apns:https://push.example"])
  func `a lane without a service gets nobody's payload`(lane: String) {
    #expect(PushServices.service(ofLane: lane) == nil)
  }

  @Test(arguments: [PushForm.silent, .alert, .hybrid])
  func `no payload is larger than its service takes`(form: PushForm) throws {
    let long = String(repeating: "Ä", count: 5000)
    let announced = PushMessage(7, NotificationMessage(long), richType: "img", form: form)
    for service in PushServices.all {
      for message in [announced, PushMessage(text: long)] {
        let payload = service.payload(of: message).payload()
        let (size, limit) = (payload.json.utf8.count, service.traits.largestPayload)
        #expect((limit - 16...limit).contains(size), "\(service.name)")
        #expect(try JSONSerialization.jsonObject(with: Data(payload.json.utf8)) is [String: Any])
      }
      #expect(service.payload(of: announced).kind == form.kind)
    }
  }

  @Test func `services of one format send the same payloads`() {
    for service in PushServices.all {
      for other in PushServices.all where other.format == service.format {
        #expect(other.traits.profile == service.traits.profile)
        #expect(other.traits.largestPayload == service.traits.largestPayload)
      }
    }
    let apple = PlatformLanes(services: [
      EmbeddedGateway.self, APNsProvider.self, AzureProvider.self, WebhookProvider.self,
    ])
    #expect(apple.firstOfEachFormat.map { $0.name } == ["embedded"])
    let notification = PlatformLanes(
      services: [APNsProvider.self, FCMProvider.self, AzureFirebaseProvider.self],
      formats: ["fcm": .firebase(.notification)])
    #expect(notification.firstOfEachFormat.map { $0.name } == ["apns", "fcm", "azure-fcmv1"])
  }

  /// A file of the repository.
  private func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../")
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  @Test func `the API's description, the console and the documentation name every platform`() throws
  {
    let description = try JSONSerialization.jsonObject(
      with: Data(text("Sources/Origin/openapi.json").utf8))
    let components = (description as? [String: Any])?["components"] as? [String: Any]
    let schemas = components?["schemas"] as? [String: [String: Any]]
    let platform = try #require(schemas?["Platform"])
    let names = PushServices.platforms.map(\.name)
    #expect(Set(platform["enum"] as? [String] ?? []) == Set(names))
    let tables = try ["en", "de"].map { try text("Sources/PageParts/Files/\($0).js") }
    let documentation = try text("docs/PUSH.md")
    for name in names {
      #expect(tables.allSatisfy { $0.contains(" \(name): \"") }, "\(name)")
      #expect(documentation.contains("`\(name)`"), "\(name)")
    }
    for service in PushServices.all {
      #expect(documentation.contains("\n| `\(service.name)` |"), "\(service.name)")
    }
    for (name, _) in PushConfiguration.variables {
      // That of a file is described with the variable itself.
      let itself = name.replacing(/(_STRING|_SECRET)_FILE$/) { $0.output.1 }
      #expect(documentation.contains("`\(itself)`"), "\(name)")
    }
  }
}
