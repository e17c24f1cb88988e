import Foundation
import RichPushClient
import StandIns
import Testing

/// A page that is open in Debian's Firefox, headless and offline.
struct FirefoxPage {
  let firefox: StandIn

  /// The JSON of what a script in the page gives.
  func value(_ script: String) throws -> JSONValue {
    let answer = try firefox.tell(["do": "evaluate", "script": script])
    try #require(answer["error"] == nil, "\(script): \(answer)")
    let json = try JSONSerialization.data(
      withJSONObject: answer["value"] ?? NSNull(), options: .fragmentsAllowed)
    return try JSONDecoder().decode(JSONValue.self, from: json)
  }
}
