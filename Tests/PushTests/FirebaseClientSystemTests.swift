import StandIns
import Testing

/// The Firebase stand-in, as Google's own client sees it.
@Suite(.timeLimit(.minutes(2))) struct FirebaseClientSystemTests {
  @Test func `the stand-in answers firebase-admin as Firebase does`() throws {
    try #require(PythonTool.isInstalled, "make tools installs firebase-admin")
    let fcm = try StandIn("fcm")
    try fcm.answer([
      "gone": [["error": "UNREGISTERED"]], "foreign": [["error": "SENDER_ID_MISMATCH"]],
      "busy": [["error": "QUOTA_EXCEEDED"]],
    ])
    let sent = "projects/richpush-test/messages"
    let invalid = "InvalidArgumentError INVALID_ARGUMENT"
    #expect(
      try PythonTool.run("firebase_client.py", [fcm.folder, String(fcm.port)]) == [
        sent, sent, "UnregisteredError NOT_FOUND", "SenderIdMismatchError PERMISSION_DENIED",
        "QuotaExceededError RESOURCE_EXHAUSTED", invalid, invalid, invalid, sent,
      ])
    #expect(try fcm.tell(["do": "requests"])["exchanges"] as? Int == 1)
  }
}
