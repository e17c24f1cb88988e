import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct CredentialsTests {
  private func basic(_ pair: String, scheme: String = "Basic") -> String {
    scheme + " " + Data(pair.utf8).base64EncodedString()
  }

  @Test(arguments: ["Basic", "basic", "BASIC"])
  func `reads a name and a password`(_ scheme: String) throws {
    let credentials = try #require(Credentials(basic("alice:secret", scheme: scheme)))
    #expect(credentials.name == "alice" && credentials.password == "secret")
  }

  @Test func `splits at the first colon`() throws {
    #expect(try #require(Credentials(basic("alice:a:b:c"))).password == "a:b:c")
  }

  @Test(arguments: [
    "", "Basic", "Basic !!!", "Bearer abc", "Basic YWxpY2U=", "Basic " + "QQ".padded(to: 4000),
  ])
  func `finds no credentials in other schemes`(_ field: String) {
    #expect(Credentials(field) == nil)
  }

  @Test(arguments: ["a b:x", ":x", "a/b:x", "a\u{0}b:x", "ü:x"])
  func `finds no credentials with names that cannot be in a tag`(_ pair: String) {
    #expect(Credentials(basic(pair)) == nil)
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    String(repeating: self, count: count / utf8.count)
  }
}
