import Foundation
import Shared
import Testing

@Suite struct PairingLinkTests {
  static let code = "Ab3-_6789012345678901x"

  @Test(arguments: [
    ("https://push.example/app/#pair=", "https://push.example"),
    (" https://push.example:8443/below/app/?pair=", "https://push.example:8443/below"),
    ("http://127.0.0.1:8080/app/#pair=", "http://127.0.0.1:8080"),
  ])
  func `a link has the server and the code`(link: String, server: String) {
    let read = PairingLink(link + Self.code + "\n")
    #expect(read?.server.absoluteString == server && read?.code == Self.code)
  }

  @Test(arguments: [
    "", "Ab3", "https://push.example/app/", "https://push.example/app/#pair=short",
    "http://push.example/app/#pair=" + code, "https://push.example/other/#pair=" + code,
    "javascript:/app/#pair=" + code,
  ])
  func `anything else is none`(text: String) { #expect(PairingLink(text) == nil) }

  @Test(arguments: ["7kqm-wx4p", "7KQM WX4P", "7KQMWX4P"])
  func `the short code is typed with the server's name`(typed: String) {
    let read = PairingLink(server: "push.example", code: typed)
    #expect(read?.server.absoluteString == "https://push.example" && read?.code == "7KQMWX4P")
  }
}
