import Foundation
import RichPushClient
import Testing

/// Somebody who has nothing to do with a plugin that misbehaves, and watches the clock.
///
/// It asks for a sound that is stored and for the answer of a plugin that is run each time.
struct Bystander {
  private let connection: RawConnection
  private let targets: [String]

  /// A healthy plugin; install it before the server is asked.
  static let plugin = """
    #!/bin/sh
    printf 'Content-Type: text/plain\\nCache-Control: no-store\\n\\nfine'

    """

  init(on server: RunningServer) async throws {
    let alice = server.client("alice")
    let sound = try await alice.create(
      NewNotification("m", richType: "sound", payload: "chime.wav", to: .users(["alice"])))
    let text = try await alice.create(
      NewNotification("m", richType: "good", payload: "x", to: .users(["alice"])))
    connection = try RawConnection(port: server.port)
    targets = ["/api/notifications/\(sound.id)", "/api/notifications/\(text.id)"]
  }

  /// How long an answer took in the middle of all cases, of at least twenty and until `isOver`.
  func median(until isOver: () -> Bool = { true }) throws -> Duration {
    var times: [Duration] = []
    while times.count < 20 || !isOver() {
      let start = ContinuousClock.now
      for target in targets {
        connection.ask("GET", target)
        #expect(try connection.answer().status == 200)
      }
      times.append(.now - start)
    }
    return times.sorted()[times.count / 2]
  }
}

extension RawConnection {
  /// Asks as alice, without waiting.
  func ask(_ method: String, _ target: String, _ body: [UInt8] = []) {
    let head = """
      \(method) \(target) HTTP/1.1\r
      Host: localhost\r
      Authorization: Basic YWxpY2U6YWxpY2U=\r
      Content-Type: application/json\r
      Content-Length: \(body.count)\r
      \r

      """
    send(Array(head.utf8) + body)
  }
}
