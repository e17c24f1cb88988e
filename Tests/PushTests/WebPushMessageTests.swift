import Foundation
import Primitives
import RichPushAPI
import StandIns
import Testing

@testable import Push

/// RFC 8291 and RFC 8292, with their own examples and with the programs of others.
@Suite(.timeLimit(.minutes(2))) struct WebPushMessageTests {
  /// RFC 8291, appendix A.
  private enum Example {
    static let plaintext = Array("When I grow up, I want to be a watermelon".utf8)
    static let sender = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    static let receiver = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    static let p256dh =
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
    static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
    static let message =
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIg"
      + "Dll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuw"
      + "XPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
  }

  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

  @Test func `encrypts the example of RFC 8291 byte for byte`() throws {
    let message = try WebPushMessage.encrypt(
      Example.plaintext + [2], for: WebPushKeys(p256dh: Example.p256dh, auth: Example.auth),
      sender: #require(P256Key(bytes(Example.sender))), salt: bytes(Example.salt))
    #expect(Base64URL.encode(message) == Example.message)
  }

  @Test func `decrypts the example of RFC 8291, and nothing that was changed`() throws {
    let receiver = try #require(P256Key(bytes(Example.receiver)))
    #expect(Base64URL.encode(receiver.publicKey) == Example.p256dh)
    let (message, auth) = (try bytes(Example.message), try bytes(Example.auth))
    #expect(
      WebPushMessage.decrypt(message, key: receiver, secret: auth) == Example.plaintext)
    for index in message.indices where index < 16 || index > 20 {
      var changed = message
      changed[index] ^= 1
      #expect(WebPushMessage.decrypt(changed, key: receiver, secret: auth) == nil, "byte \(index)")
    }
    for count in 0..<message.count {
      let part = Array(message.prefix(count))
      #expect(WebPushMessage.decrypt(part, key: receiver, secret: auth) == nil, "\(count) bytes")
    }
  }

  @Test func `has new keys and one of five lengths for every message`() throws {
    let receiver = try P256Key()
    let keys = try WebPushKeys(
      p256dh: Base64URL.encode(receiver.publicKey), auth: Example.auth)
    var lengths: Set<Int> = []
    var beginnings: Set<[UInt8]> = []
    for count in stride(from: 0, through: WebPushMessage.limit, by: 121) + [WebPushMessage.limit] {
      let message = try WebPushMessage.encrypt([UInt8](repeating: 65, count: count), for: keys)
      lengths.insert(message.count)
      beginnings.insert(Array(message.prefix(86)))
      #expect(
        WebPushMessage.decrypt(message, key: receiver, secret: keys.secret)?.count == count)
    }
    #expect(lengths.sorted() == [512, 1024, 2048, 2640, 3993].map { $0 + 103 })
    #expect(beginnings.count == 35)
    #expect(throws: PushError.self) {
      try WebPushMessage.encrypt([UInt8](repeating: 65, count: WebPushMessage.limit + 1), for: keys)
    }
  }

  private static let invalidKeys: [(p256dh: String, auth: String)] = {
    let (point, secret) = (Example.p256dh, Example.auth)
    let altered = { (old: String, new: String) in point.replacingOccurrences(of: old, with: new) }
    return [
      ("", secret), (altered("BCV", "BCW"), secret), (altered("BCV", "CCV"), secret),
      (altered("_", "/"), secret), (String(repeating: "A", count: 87), secret),
      (String(point.dropLast(2)), secret), (point + "AA", secret), (point, ""),
      (point, String(secret.dropLast(2))), (point, secret + "AA"), (point, altered("BCV", "B!V")),
    ]
  }()

  @Test(arguments: invalidKeys)
  func `refuses keys that are none`(p256dh: String, auth: String) {
    #expect(throws: PushError.self) { try WebPushKeys(p256dh: p256dh, auth: auth) }
  }

  @Test func `accepts the padding that some clients send`() throws {
    let keys = try WebPushKeys(p256dh: Example.p256dh + "=", auth: Example.auth + "==")
    #expect(keys.text == Example.p256dh + "." + Example.auth)
    #expect(try WebPushKeys(keys.text) == keys)
  }

  @Test func `makes the header and the claims of RFC 8292's example`() {
    #expect(
      VAPIDKey.unsigned(
        for: "https://push.example.net", contact: "mailto:push@example.com",
        expires: Date(timeIntervalSince1970: 1_453_523_768))
        == "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQi"
        + "LCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0")
  }

  @Test func `reads its key from the store's text`() throws {
    let text = "c9f58f89813e9f8e872e71f42aa64e1757c9254dcc62b72ddc010bb4043ea11c"
    #expect(
      try VAPIDKey(hexadecimal: text).publicKey
        == "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
    )
    for text in [
      "", "00", String(repeating: "0", count: 64), String(repeating: "f", count: 64), text + "0",
      "+" + text.dropFirst(), "x" + text.dropFirst(),
    ] {
      #expect(throws: PushError.self) { try VAPIDKey(hexadecimal: text) }
    }
  }
}

/// The same, as programs of others read it.
@Suite(.timeLimit(.minutes(2))) struct WebPushReaderTests {
  @Test(
    .enabled(
      if: PythonTool.isInstalled, "needs http_ece and py_vapid, which `make tools` installs"))
  func `http_ece and py_vapid read a thousand messages of random sizes`() throws {
    let receiver = try P256Key()
    let auth = try Random.bytes(16)
    let keys = try WebPushKeys(
      p256dh: Base64URL.encode(receiver.publicKey), auth: Base64URL.encode(auth))
    let vapid = try VAPIDKey(hexadecimal: String(repeating: "1f", count: 32))
    var lines = [Base64URL.encode(receiver.privateKey) + " " + Base64URL.encode(auth)]
    var expected: [String] = []
    for index in 0..<1000 {
      let size = index == 0 ? 1 : index == 1 ? WebPushMessage.limit : Int.random(in: 1...3993)
      let plaintext = try Random.bytes(size)
      let origin = "https://push-\(index).example"
      let token = try vapid.authorization(
        for: origin, contact: "mailto:ops@example.com", expires: Date() + 43_200)
      lines.append(
        Base64URL.encode(try WebPushMessage.encrypt(plaintext, for: keys)) + " \(origin) \(token)")
      expected.append(Base64URL.encode(plaintext) + " \(origin)")
    }
    #expect(
      try PythonTool.run("webpush_reader.py", input: lines.joined(separator: "\n")) == expected)
  }

  @Test(
    .enabled(
      if: PythonTool.isInstalled, "needs http_ece and py_vapid, which `make tools` installs"),
    arguments: PushForm.allCases)
  func `http_ece reads every member of a message`(form: PushForm) throws {
    let (receiver, auth) = (try P256Key(), try Random.bytes(16))
    let keys = try WebPushKeys(
      p256dh: Base64URL.encode(receiver.publicKey), auth: Base64URL.encode(auth))
    let vapid = try VAPIDKey(hexadecimal: String(repeating: "1f", count: 32))
    let token = try vapid.authorization(
      for: "https://push.example", contact: "mailto:ops@example.com", expires: Date() + 43_200)
    let texts = WholeMessages.pushes(in: form).map {
      WebPushProvider.payload(of: $0).payload().json
    }
    let lines = try texts.map { text in
      Base64URL.encode(try WebPushMessage.encrypt(Array(text.utf8), for: keys))
        + " https://push.example \(token)"
    }
    let read = try PythonTool.run(
      "webpush_reader.py",
      input: ([Base64URL.encode(receiver.privateKey) + " " + Base64URL.encode(auth)] + lines)
        .joined(separator: "\n"))
    #expect(read == texts.map { Base64URL.encode(Array($0.utf8)) + " https://push.example" })
    let first = try #require(texts.first.flatMap { JSONValue($0.utf8)?.members })
    #expect(
      Set(first.keys) == [
        "richId", "richTitle", "richSubtitle", "richMessage", "richType", "sound", "importance",
        "thread", "icon", "colour", "tag", "link", "actions", "replaces", "lockScreen", "data",
        "att",
      ])
  }
}
