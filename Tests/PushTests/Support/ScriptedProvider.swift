import Foundation
import Synchronization

@testable import Push

/// A push service that does what a test says.
final class ScriptedProvider: PushProvider {
  let name: String
  let capacity: Int
  let settings = ""
  let traits: PushTraits
  private let script: @Sendable (OutgoingPush, Int) async -> PushOutcome
  private let calls = Mutex<[OutgoingPush]>([])

  init(
    name: String = "scripted", capacity: Int = 10, limitsSilentPushes: Bool = false,
    script: @escaping @Sendable (_ push: OutgoingPush, _ call: Int) async -> PushOutcome
  ) {
    self.name = name
    self.capacity = capacity
    traits = PushTraits(
      platforms: [.apple], largestPayload: PushPayload.limit, profile: "ios",
      limitsSilentPushes: limitsSilentPushes)
    self.script = script
  }

  func payload(of message: PushMessage) -> PayloadTemplate { .apple(message) }

  var sent: [OutgoingPush] { calls.withLock { $0 } }

  func send(_ push: OutgoingPush) async -> PushOutcome {
    let call = calls.withLock {
      $0.append(push)
      return $0.count
    }
    return await script(push, call)
  }
}

extension OutgoingPush {
  /// A push to one phone.
  static func sample(
    _ number: Int = 1, to handle: String = "AB12", kind: PushPayload.Kind = .background,
    message: PushMessage? = nil, text: PushPayload? = nil, collapseID: String? = nil,
    expires: Date? = nil
  ) -> OutgoingPush {
    OutgoingPush(
      id: "00000000-0000-4000-8000-" + String(format: "%012d", number),
      target: .device(handle: handle, platform: "apns"), message: message,
      text: text
        ?? PushPayload(kind, json: #"{"aps":{"content-available":1},"richId":"\#(number)"}"#),
      collapseID: collapseID, expires: expires)
  }
}
