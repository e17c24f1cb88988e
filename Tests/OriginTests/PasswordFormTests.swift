import Foundation
import HTTP
import Media
import Store
import TestSupport
import Testing

@testable import Origin

/// Passwords with letters that keyboards and systems send in different forms of Unicode (RFC 8265).
@Suite(.timeLimit(.minutes(1))) struct PasswordFormTests {
  /// A password as it is set, and another form of it that a device sends.
  struct Pair: Sendable, CustomTestStringConvertible {
    let set: String
    let sent: String
    var testDescription: String { self.set }
  }

  private static let pairs = [
    Pair(set: "p\u{E4}ssw\u{F6}rd", sent: "pa\u{308}sswo\u{308}rd"),
    Pair(set: "pa\u{308}sswo\u{308}rd", sent: "p\u{E4}ssw\u{F6}rd"),
    Pair(set: "two\u{A0}words\u{3000}", sent: "two words "),
    Pair(set: "two words ", sent: "two\u{2002}words\u{202F}"),
    Pair(set: "\u{D55C}\u{AD6D}\u{C5B4} 12345", sent: "\u{1112}\u{1161}\u{11AB}국어 12345"),
    Pair(set: "q\u{307}\u{323} 123456", sent: "q\u{323}\u{307} 123456"),
    Pair(set: "\u{1FA7}\u{1FA7} 123456", sent: "\u{3C9}\u{314}\u{342}\u{345}\u{1FA7} 123456"),
    Pair(set: "\u{212B}ngstr\u{F6}m 1", sent: "A\u{30A}ngstro\u{308}m 1"),
  ]

  private func basic(_ password: String, of name: String = "alice") -> String {
    "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
  }

  private func signIn(_ server: TestServer, _ password: String) async throws -> Int {
    let body = try JSONSerialization.data(
      withJSONObject: ["username": "alice", "password": password])
    return try await server.execute(
      "POST", "/api/session", fields: ["Sec-Fetch-Site": "same-origin"],
      body: String(decoding: body, as: UTF8.self)
    ).status
  }

  private func read(_ server: TestServer, _ password: String) async throws -> Int {
    try await server.execute(
      "GET", "/api/notifications", fields: ["Authorization": basic(password)]
    ).status
  }

  @Test(arguments: pairs)
  func `a password opens in each form, by Basic and on pages, whoever set it`(
    pair: Pair
  ) async throws {
    #expect(!pair.set.utf8.elementsEqual(pair.sent.utf8))
    try await TestServer.test { server in
      let admin = try DataFolderAdmin(data: server.configuration.data)
      try await admin.addUser("alice", password: pair.set, role: "device")
      for password in [pair.set, pair.sent] {
        #expect(try await read(server, password) == 200)
        #expect(try await signIn(server, password) == 204)
      }
      #expect(try await read(server, pair.sent + "x") == 401)
      try await admin.setPassword(of: "alice", to: "another one")
      let body = try JSONSerialization.data(withJSONObject: [
        "password": pair.sent, "role": "device",
      ])
      let changed = try await server.execute(
        "PUT", "/api/users/alice", as: "admin", body: String(decoding: body, as: UTF8.self))
      #expect(changed.status < 300, "\(changed.detail ?? "")")
      for password in [pair.set, pair.sent] {
        #expect(try await read(server, password) == 200)
        #expect(try await signIn(server, password) == 204)
      }
    }
  }

  @Test func `a password that an earlier version hashed as it was sent still opens`() async throws {
    let decomposed = "pa\u{308}sswo\u{308}rd"
    try await TestServer.test { server in
      try await server.store.accounts.addUser(
        "alice", hash: PasswordHash.make(decomposed) ?? "", role: .device)
      #expect(try await read(server, decomposed) == 200)
      #expect(try await signIn(server, decomposed) == 204)
    }
  }

  @Test func `a longest password opens decomposed, and its composed form counts`() async throws {
    let longest = String(repeating: "\u{AC01}", count: 170)
    let decomposed = String(repeating: "\u{1100}\u{1161}\u{11A8}", count: 170)
    try await TestServer.test { server in
      let admin = try DataFolderAdmin(data: server.configuration.data)
      try await admin.addUser("alice", password: decomposed, role: "device")
      for password in [longest, decomposed] {
        #expect(try await read(server, password) == 200)
        #expect(try await signIn(server, password) == 204)
      }
      await #expect(throws: OperatorError.self) {
        try await admin.setPassword(of: "alice", to: longest + "12")
      }
      await #expect(throws: OperatorError.self, "seven characters, whatever the form") {
        try await admin.setPassword(of: "alice", to: "a\u{308}234567")
      }
    }
  }

  @Test(arguments: [
    "\u{200B}", "\u{200D}", "\u{AD}", "\u{2028}", "\u{E000}", "\u{378}", "\u{202E}",
    "\u{FEFF}", "\u{1100}", "\u{FE0F}", "\u{7F}", "\u{9}", "\u{640}", "\u{B7}", "\u{661}\u{6F1}",
  ])
  func `a new password with a character that cannot be typed again is refused`(
    text: String
  ) async throws {
    let scratch = try Scratch()
    let admin = try DataFolderAdmin(data: scratch.path + "/data", creates: true)
    do {
      try await admin.addUser("alice", password: "12345678" + text + "x", role: "device")
      Issue.record("It was accepted.")
    } catch let error as OperatorError {
      #expect(error.reason.contains("characters"), "\(error.reason)")
    }
  }

  @Test(arguments: [
    "pässwörd", "correct horse", "密码密码密码密码", "\u{6A9}\u{6CC}\u{200C}\u{6A9}12345", "col\u{B7}laps",
    "\u{915}\u{94D}\u{200D}\u{937} 12345678", "🐴🔋✂ 12345", "\u{661}\u{662} 123456", "€ñ¿ßçø 12",
    "ひらがな・カタカナ", "טש\u{5F4}ח 12345",
  ])
  func `a new password may have letters, symbols and signs of any script`(
    password: String
  ) async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let admin = try DataFolderAdmin(data: scratch.path + "/data")
    try await admin.addUser("alice", password: password, role: "device")
    let authenticator = Authenticator(store: store, isDemo: false)
    #expect(await authenticator.verify(basic(password), from: "::1").caller?.name == "alice")
  }

  @Test(arguments: ["alice", "nobody"])
  func `a wrong password counts once, also if both of its forms were compared`(
    name: String
  ) async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    try await store.accounts.addUser(
      "alice", hash: PasswordHash.make("a-good-secret") ?? "", role: .device)
    let failures = FailedLogins()
    let authenticator = Authenticator(store: store, isDemo: false, failures: failures)
    for number in 0..<3 {
      _ = await authenticator.verify(basic("wro\u{308}ng\(number)", of: name), from: "::1")
    }
    #expect(failures.wrong == 3)
  }
}
