import Foundation
import Testing

@testable import Push

@Suite struct MediaLinkSignerTests {
  private let signer = MediaLinkSigner(base: "https://push.example", key: Array("secret".utf8))
  private let grant = MediaLinkSigner.Grant(
    id: 7, user: "alice & bob", profile: "ios", expires: 1_800_000_000)
  private let before = Date(timeIntervalSince1970: 1_799_999_999)

  private var signature: String {
    signer.url(for: grant).components(separatedBy: "signature=").last ?? ""
  }

  @Test func `writes an address that a URL parser understands`() throws {
    let url = try #require(URLComponents(string: signer.url(for: grant)))
    #expect(url.path == "/api/notifications/7")
    #expect(url.queryItems?.first { $0.name == "user" }?.value == "alice & bob")
    #expect(url.queryItems?.first { $0.name == "signature" }?.value == signature)
  }

  @Test func `allows just what was signed`() {
    #expect(signer.allows(grant, signature: signature, at: before))
    for other in [
      MediaLinkSigner.Grant(id: 8, user: grant.user, profile: "ios", expires: grant.expires),
      .init(id: 7, user: "mallory", profile: "ios", expires: grant.expires),
      .init(id: 7, user: grant.user, profile: "web", expires: grant.expires),
      .init(id: 7, user: grant.user, profile: "ios", expires: grant.expires + 1),
    ] {
      #expect(!signer.allows(other, signature: signature, at: before))
    }
    let stranger = MediaLinkSigner(base: "https://push.example", key: Array("other".utf8))
    #expect(!stranger.allows(grant, signature: signature, at: before))
    #expect(!signer.allows(grant, signature: "", at: before))
  }

  @Test func `ends when its time is over`() {
    #expect(!signer.allows(grant, signature: signature, at: before + 1))
  }
}
