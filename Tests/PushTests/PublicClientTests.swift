import Foundation
import StandIns
import Testing

/// The APNs stand-in, as a client sees it that was written for Apple's service by others.
@Suite(.timeLimit(.minutes(1))) struct PublicClientTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let python = root.deletingLastPathComponent()
    .appending(path: ".build/tools/bin/python3")

  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: python.path),
      "needs aioapns, which `make tools` installs"))
  func `the stand-in answers aioapns as Apple's service does`() async throws {
    let apns = try StandIn("apns")
    try apns.answer([
      "dead": [["status": 410, "reason": "Unregistered", "timestamp": 1_700_000_000_000]],
      "*": [["status": 200]],
    ])
    let client = Self.root.appending(path: "StandIns/Services/public_client.py").path
    let text = try StartedProgram.run(
      Self.python.path, [client, apns.folder, String(apns.port)], errors: .nullDevice
    ).output
    #expect(
      String(decoding: text, as: UTF8.self).split(separator: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      } == [
        "200", "200", "400 BadPriority", "413 PayloadTooLarge", "410 Unregistered",
        "400 BadCollapseId", "200 at once", "403 InvalidProviderToken",
      ])
  }
}
