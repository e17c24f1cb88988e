import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct WarningTests {
  private func warnings(
    _ change: (inout OriginConfiguration) throws -> Void
  ) async throws -> [String] {
    let scratch = try Scratch()
    var configuration = try OriginConfiguration()
    configuration.assets = scratch.path
    try change(&configuration)
    let lines = LogLines()
    try await configuration.warn(of: try scratch.store(), log: lines.log)
    return lines.all.filter { !$0.contains("runs as root") }
  }

  @Test(
    arguments: [
      ("0.0.0.0", [], nil, true), ("10.0.0.5", [], nil, true),
      ("10.0.0.5", ["10.0.0.2"], nil, false),
      ("10.0.0.5", [], "cert.pem", false), ("127.0.0.1", [], nil, false), ("::1", [], nil, false),
    ] as [(String, [String], String?, Bool)])
  func `warns of unencrypted passwords on a network`(
    host: String, proxies: [String], certificate: String?, isExpected: Bool
  ) async throws {
    let warnings = try await warnings {
      ($0.host, $0.proxies, $0.isDemo) = (host, proxies, true)
      let files = certificate.map { [$0] } ?? []
      try $0.useCertificates(files, keys: files)
    }
    #expect(warnings.contains { $0.contains("unencrypted") } == isExpected)
    #expect(warnings.count == (isExpected ? 1 : 0))
  }

  @Test func `warns that there are no users, and no folder for assets`() async throws {
    #expect(try await warnings { _ in }.contains { $0.contains("no users yet") })
    #expect(try await warnings { $0.assets = "/nowhere" }.contains { $0.contains("/nowhere") })
  }

  @Test func `warns of a TLS key and of credentials that every user can read`() async throws {
    let scratch = try Scratch()
    chmod(scratch.path, 0o755)
    try scratch.write("key", to: "tls.key", mode: 0o644)
    try scratch.write("0123456789abcdef0123456789abcdef", to: "hook", mode: 0o604)
    let (key, hook) = (scratch.path + "/tls.key", scratch.path + "/hook")
    func found() async throws -> [String] {
      try await warnings {
        try $0.useCertificates([key], keys: [key])
        $0.isDemo = true
        try? $0.usePush(
          "webhook",
          environment: [
            "RICHPUSH_WEBHOOK_URL": "https://hook.example/", "RICHPUSH_WEBHOOK_SECRET_FILE": hook,
          ])
      }
    }
    let open = try await found()
    #expect(open.count == 2 && open[0].contains(key) && open[1].contains(hook), "\(open)")
    for path in [key, hook] { chmod(path, 0o640) }
    #expect(try await found().isEmpty)
  }

  @Test(arguments: ["push.example", "ftp://a", "https://", "https://a/?b", "https://u@a"])
  func `rejects an invalid public URL`(text: String) throws {
    var configuration = try OriginConfiguration()
    #expect(throws: OperatorError.self) { try configuration.usePublicURL(text) }
  }

  @Test func `says that ntfy's apps get nothing without the embedded gateway`() throws {
    var configuration = try OriginConfiguration()
    configuration.compatibility = try CompatibilitySettings(["ntfy"], ntfy: .host("ntfy.example"))
    #expect(configuration.warnings.isEmpty)
    try configuration.usePush(
      "webhook",
      environment: [
        "RICHPUSH_WEBHOOK_URL": "https://hook.example/",
        "RICHPUSH_WEBHOOK_SECRET": "a secret of 24 characters",
      ])
    #expect(configuration.warnings.contains { $0.contains("add embedded to --push") })
  }

  @Test func `removes the last slash of the public URL`() async throws {
    var configuration = try OriginConfiguration()
    try configuration.usePublicURL("https://push.example/rich/")
    #expect(configuration.publicURL == "https://push.example/rich")
  }

  @Test func `rejects contradictory options`() async throws {
    let wrong: [(inout OriginConfiguration) -> Void] = [
      { $0.proxies = ["localhost"] },
      { $0.proxies = ["10.0.0.5/24"] },
      { $0.origins = ["app.example"] }, { $0.origins = ["https://app.example/path"] },
      { $0.network = ["../url"] },
      { ($0.assets, $0.data) = ("/srv/drop", "/srv/drop/data") },
      { ($0.assets, $0.data) = ("shared", "./shared/../shared") },
    ]
    for change in wrong {
      var configuration = try OriginConfiguration()
      change(&configuration)
      #expect(throws: OperatorError.self) { try configuration.check() }
    }
    for (certificates, keys) in [
      (["a.pem"], []), ([], ["a.key"]), (["a.pem", "b.pem"], ["a.key"]),
    ] {
      var configuration = try OriginConfiguration()
      #expect(throws: OperatorError.self) {
        try configuration.useCertificates(certificates, keys: keys)
      }
    }
    var configuration = try OriginConfiguration()
    (configuration.origins, configuration.proxies) = (
      ["*", "https://app.example"], ["10.0.0.2", "172.16.0.0/12", "fd00::/8"]
    )
    (configuration.assets, configuration.data) = ("/srv/drop", "/srv/dropped")
    #expect(throws: Never.self) { try configuration.check() }
  }
}
