import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Push tokens: whose they are, and when they end.
@Suite(.timeLimit(.minutes(5))) struct DeviceHygieneTests {
  @Test func `a token moves to whoever logs in on the phone`() async throws {
    try await PushServices.lend(lanes: "apns") { server, services in
      try await server.client("alice").register(handle: "AB12")
      try await server.client("bob").register(handle: "AB12")
      let shop = server.client("shop")
      let lost = try await shop.create(.logo(to: "alice", "for alice")).id
      #expect(try server.deliveries(of: lost).isEmpty)
      _ = try await shop.create(.logo(to: "bob", "for bob"))
      #expect(
        try await services.apns.pushes(1).map(\.json.richMessage.text) == ["for bob"])
    }
  }

  @Test func `a push that waits is not shown to the phone's next user`() async throws {
    try await PushServices.lend(lanes: "apns") { server, services in
      try services.apns.answer(["*": [["status": 503, "reason": "ServiceUnavailable"]]])
      try await server.client("alice").register(handle: "AB12")
      let id = try await server.client("shop").create(.logo(to: "alice", "private")).id
      _ = try await services.apns.pushes(1)
      try await server.client("bob").register(handle: "AB12")
      try services.apns.answer([:])
      try await eventually("it is given up") { try server.deliveries(of: id) == ["apns failed"] }
    }
  }

  @Test func `a token that ended goes, unless it was registered anew after that`() async throws {
    try await PushServices.lend(lanes: "apns") { server, services in
      let (shop, alice) = (server.client("shop"), server.client("alice"))
      let past = (Date().timeIntervalSince1970 - 3600) * 1000
      let future = (Date().timeIntervalSince1970 + 60) * 1000
      try services.apns.answer([
        "0A": [["status": 410, "reason": "Unregistered", "timestamp": past]],
        "0B": [["status": 410, "reason": "Unregistered", "timestamp": future]],
      ])
      for handle in ["0A", "0B", "0C"] { try await alice.register(handle: handle) }
      let first = try await shop.create(.logo(to: "alice"))
      #expect(first.reach?.devices == 3)
      try await eventually("all are settled") {
        try server.deliveries(of: first.id).sorted() == ["apns failed", "apns failed", "apns sent"]
      }
      let second = try await shop.create(.logo(to: "alice"))
      #expect(second.reach?.devices == 2)
      _ = try await services.apns.pushes(5)
    }
  }

  @Test func `a token of the other environment is tried there, and one of none is dropped`()
    async throws
  {
    let services = try PushServices()
    let sandbox = try StandIn("apns")
    // Both environments know the team's key.
    let key = try String(contentsOfFile: services.apns.folder + "/key.p8", encoding: .utf8)
    try sandbox.tell(["do": "key", "pem": key])
    let unknown = [["status": 400, "reason": "BadDeviceToken"]]
    try services.apns.answer(["0A": unknown, "0B": unknown])
    try sandbox.answer(["0B": unknown])
    let scratch = try Scratch()
    let authorities = try [services.apns, sandbox].map {
      try String(contentsOfFile: $0.certificates, encoding: .utf8)
    }
    let anchor = try scratch.drop(Array(authorities.joined().utf8), as: "ca.pem")
    try await RunningServer.lend(
      flags: ["--demo", "--push", "apns"],
      environment: services.environment.merging([
        "RICHPUSH_APNS_ENDPOINT": "\(services.apns.url),\(sandbox.url)",
        "RICHPUSH_PUSH_CA": anchor.path,
      ]) { $1 }
    ) { server in
      for handle in ["0A", "0B"] { try await server.client("alice").register(handle: handle) }
      let shop = server.client("shop")
      let id = try await shop.create(.logo(to: "alice")).id
      try await eventually("both are settled") {
        try server.deliveries(of: id) == ["apns failed", "apns sent"]
      }
      #expect(try await shop.create(.logo(to: "alice")).reach?.devices == 1)
    }
  }
}
