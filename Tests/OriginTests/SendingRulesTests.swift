import Foundation
import Media
import TestSupport
import Testing

@testable import Origin

/// `serve --quiet-hours`.
@Suite(.timeLimit(.minutes(2))) struct SendingRulesTests {
  @Test func `who composes learns the quiet hours of all devices`() async throws {
    for text in ["22:00-07:00", nil] {
      try await TestServer.test(
        prepare: { configuration, scratch in
          try text.map { try configuration.useQuietHours($0) }
          try scratch.installNote()
        },
        { server in
          let size = try await server.execute(
            "GET", "/api/audience?to=username:device", as: "publisher")
          let hours = size.json["quietHours"] as? [String: String]
          #expect(hours == text.map { _ in ["from": "22:00", "until": "07:00"] })
        })
    }
  }

  @Test(arguments: ["", "22:00", "22:00-22:00", "24:00-07:00", "22:00-07:00-08:00", "22-7"])
  func `what are no hours is refused`(_ text: String) throws {
    var configuration = try OriginConfiguration()
    let error = #expect(throws: OperatorError.self) { try configuration.useQuietHours(text) }
    #expect(error?.description.contains("such as 22:00-07:00") == true)
  }
}
