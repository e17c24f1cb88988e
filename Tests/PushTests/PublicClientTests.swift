import Foundation
import RichPushAPI
import StandIns
import Testing

@testable import Push

/// The APNs stand-in, as a client sees it that was written for Apple's service by others.
@Suite(.timeLimit(.minutes(1))) struct PublicClientTests {
  @Test(.enabled(if: PythonTool.isInstalled, "needs aioapns, which `make tools` installs"))
  func `the stand-in answers aioapns as Apple's service does`() async throws {
    let apns = try StandIn("apns")
    try apns.answer([
      "dead": [["status": 410, "reason": "Unregistered", "timestamp": 1_700_000_000_000]],
      "*": [["status": 200]],
    ])
    // Its own texts, and those of richpush but for the longest, to which it adds spaces.
    let alerts = [PushForm.alert, .hybrid].flatMap(WholeMessages.pushes).map {
      PayloadTemplate.apple($0).payload(badge: 3).json
    }.filter { $0.utf8.count < 3000 }
    let lines = try PythonTool.run(
      "public_client.py", [apns.folder, String(apns.port)],
      input: alerts.joined(separator: "\n") + "\n", errors: .nullDevice)
    let wrong = [
      "alert", "alert", "badge", "badge", "badge", "sound", "sound", "interruption-level",
      "relevance-score", "mutable-content", "thread", "thread-id", "alert", "badge", "sound",
    ].map { "400 WrongKey \($0)" }
    #expect(
      lines.map { $0.trimmingCharacters(in: .whitespaces) } == [
        "200", "200", "400 BadPriority", "413 PayloadTooLarge", "410 Unregistered",
        "400 BadCollapseId",
      ] + alerts.map { _ in "200" } + ["200"] + wrong + ["200"] + [
        "200 at once", "403 InvalidProviderToken",
      ])
  }
}
