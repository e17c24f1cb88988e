import Foundation
import RichPushClient
import StandIns

/// A push that a stand-in of a push service took.
struct TakenPush {
  /// What the server calls it, such as `apns-id`.
  let id: String
  let device: String
  let notification: Int
  let message: String
}

extension StandIn {
  /// All pushes that it took, in order.
  func takenPushes() throws -> [TakenPush] {
    let taken = try tell(["do": "delivered"])["pushes"] as? [[String]] ?? []
    return try taken.map { push in
      var json = try JSONDecoder().decode(JSONValue.self, from: Data(push[2].utf8))
      if json.push != .null { json = json.push }
      return TakenPush(
        id: push[0], device: push[1],
        notification: (json.richId.text ?? json.data.richId.text).flatMap(Int.init) ?? -1,
        message: json.aps.alert.body.text ?? json.richMessage.text ?? json.data.richMessage.text
          ?? "")
    }
  }
}
