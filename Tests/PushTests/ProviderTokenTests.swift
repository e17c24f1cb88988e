import Foundation
import Primitives
import StandIns
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct ProviderTokenTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  private func token() throws -> ProviderToken {
    let service = try StandIn("apns")
    let pem = try String(contentsOfFile: service.folder + "/key.p8", encoding: .utf8)
    return ProviderToken(try APNsKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
  }

  @Test func `says who signs, with which key, since when`() throws {
    let parts = try token().issue(at: start).text.split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    #expect(parts[0] == Base64URL.encode(Array(#"{"alg":"ES256","kid":"ABC123DEFG"}"#.utf8)))
    #expect(
      parts[1] == Base64URL.encode(Array(#"{"iss":"DEF123GHIJ","iat":1800000000}"#.utf8)))
    #expect(!parts.joined().contains("="))
  }

  @Test func `is the same for everybody until it is forty minutes old`() throws {
    let token = try token()
    let first = try token.issue(at: start)
    #expect(try token.issue(at: start + 2399) == first)
    #expect(try token.issue(at: start + 2400) != first)
  }

  @Test func `is made anew when the clock was set back`() throws {
    let token = try token()
    let first = try token.issue(at: start)
    #expect(try token.issue(at: start - 86_400) != first)
  }

  @Test func `is replaced only when Apple does not punish it`() throws {
    let token = try token()
    let first = try token.issue(at: start)
    #expect(try token.replacement(for: first, at: start + 1199) == nil)
    let second = try #require(try token.replacement(for: first, at: start + 1200))
    // Another push that was refused with the first one gets the second, not a third.
    #expect(try token.replacement(for: first, at: start + 1201) == second)
    #expect(try token.replacement(for: second, at: start + 1201) == nil)
  }

  @Test(arguments: [384, 521])
  func `takes no key of another curve`(size: Int) throws {
    let name = size == 384 ? "secp384r1" : "secp521r1"
    let pem = try Self.output(
      "/usr/bin/python3", "-c",
      "from cryptography.hazmat.primitives import serialization as s\n"
        + "from cryptography.hazmat.primitives.asymmetric import ec\n"
        + "print(ec.generate_private_key(ec.\(name.uppercased())()).private_bytes("
        + "s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()).decode())")
    #expect {
      try APNsKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    } throws: {
      "\($0)".contains("P-256")
    }
  }

  private static func output(_ program: String, _ arguments: String...) throws -> String {
    String(decoding: try StartedProgram.run(program, arguments).output, as: UTF8.self)
  }
}
