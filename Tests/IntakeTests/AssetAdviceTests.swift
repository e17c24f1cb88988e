import Foundation
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Intake

@Suite(.timeLimit(.minutes(1))) struct AssetAdviceTests {
  @Test(
    arguments: [
      (#""Make it louder.""#, "Make it louder."), (#"["One.","Two"]"#, "One. Two."),
      (#"["One.",2,null,{"a":"b"},["Three."],"",""," "]"#, "One."),
      ("[]", nil), (#""""#, nil), ("7", nil), ("{}", nil), ("null", nil),
    ] as [(String, String?)])
  func `takes a plugin's advice as a text or as a list of texts`(said: String, shown: String?) {
    #expect(advice(said, .preparing, reason: nil) == shown)
  }

  @Test func `adds the server's own`() {
    #expect(advice(#"["One."]"#, .ready, reason: "Two.") == "One. Two.")
  }

  private func advice(_ said: String, _ state: AssetRecord.State, reason: String?) -> String? {
    var asset = AssetRecord(
      richType: "sound", name: "a", state: state, bytes: 1,
      modified: Date(timeIntervalSince1970: 0), stamp: "")
    asset.details = #"{"advice":\#(said)}"#
    asset.reason = reason
    return asset.message().advice
  }
}
