import Foundation
import RichPushClient
import StandIns

/// A push that a stand-in of a push service took.
struct TakenPush {
  /// What the server calls it, such as `apns-id`.
  let id: String
  let device: String
  let time: Date
  /// Its JSON, as text and parsed.
  let text: String
  let json: JSONValue
  /// The IDs of the notifications that it announces, the newest first.
  let notifications: [Int]
}

extension StandIn {
  /// All pushes that it took, in order.
  func takenPushes() throws -> [TakenPush] {
    let taken = try tell(["do": "delivered"])["pushes"] as? [[String]] ?? []
    return try taken.map { push in
      let whole = try JSONDecoder().decode(JSONValue.self, from: Data(push[2].utf8))
      let json = whole.push == .null ? whole : whole.push
      var ids = [json.richId.text ?? json.data.richId.text].compactMap(\.self)
      if case .array(let merged) = json.richIds { ids = merged.compactMap(\.text) }
      return TakenPush(
        id: push[0], device: push[1],
        time: Date(timeIntervalSince1970: Double(push[3]) ?? 0), text: push[2], json: whole,
        notifications: ids.compactMap { Int($0) })
    }
  }
}
