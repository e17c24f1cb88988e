import Foundation
import Primitives
import StandIns
import Testing
import Waiting

@testable import Push

/// The token by which a Web Push service knows this server, and when it is replaced.
@Suite(.timeLimit(.minutes(1))) struct VAPIDTokenTests {
  private static let hour: TimeInterval = 3600
  /// When a push is sent, in hours.
  private static let times = [0.0, 11, 12, 13, 23]

  /// The end of the token that a service got, in seconds since 1970.
  private static func end(of authorization: String) throws -> Double {
    let token = try #require(authorization.split(separator: " ").last { $0.hasPrefix("t=") })
    let claims = try #require(token.dropFirst(2).split(separator: ".").dropFirst().first)
    let bytes = try #require(Base64URL.decode(String(claims)))
    struct Claims: Decodable { let exp: Double }
    return try JSONDecoder().decode(Claims.self, from: Data(bytes)).exp
  }

  private static func provider(
    _ service: StandIn, _ clock: ManualClock
  ) throws -> WebPushProvider {
    try WebPushSender(
      key: .sample,
      settings: WebPushSettings(
        contact: "mailto:ops@example.com", allowed: ["localhost:\(service.port)"]),
      trustAnchor: service.certificates, now: { clock.date }
    ).provider(for: service.url)
  }

  @Test func `is replaced once a clock that was ahead is right`() async throws {
    let service = try StandIn("webpush")
    let clock = ManualClock(at: Date.thisSecond + 3 * Self.hour)
    let provider = try Self.provider(service, clock)
    let target = try service.subscribe("a")
    let refused = await provider.send(.web(target))
    #expect(refused.reason?.contains("too long") == true, "\(refused)")
    clock.advance(by: .seconds(-3 * Self.hour))
    let outcome = await provider.send(.web(target))
    guard case .delivered = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test func `is used for half a day, and replaced long before it ends`() async throws {
    let service = try StandIn("webpush")
    // So long ago that the service, which goes by the real time, accepts each of the tokens.
    let start = Date.thisSecond - 20 * Self.hour
    let clock = ManualClock(at: start)
    let provider = try Self.provider(service, clock)
    let target = try service.subscribe("a")
    for hours in Self.times {
      clock.advance(by: .seconds((start + hours * Self.hour).timeIntervalSince(clock.date)))
      let outcome = await provider.send(.web(target))
      guard case .delivered = outcome else {
        Issue.record("after \(hours) hours: \(outcome)")
        continue
      }
    }
    let requests = try #require(
      try service.tell(["do": "requests"])["requests"] as? [[String: Any]])
    let tokens = try requests.map { request in
      try #require((request["headers"] as? [String: String])?["Authorization"])
    }
    try #require(tokens.count == 5)
    #expect(tokens[0] == tokens[1] && tokens[2] == tokens[3] && tokens[3] == tokens[4])
    #expect(Set(tokens).count == 2)
    for (hours, token) in zip(Self.times, tokens) {
      let left = try Self.end(of: token) - (start + hours * Self.hour).timeIntervalSince1970
      #expect(left > 12 * Self.hour && left <= 24 * Self.hour, "after \(hours) hours")
    }
  }
}
