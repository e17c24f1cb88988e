import Testing

@testable import PluginKit

@Suite(.timeLimit(.minutes(1))) struct PluginResponseTests {
  @Test func `writes a document as CGI wants it`() {
    let response = PluginResponse.document(Array("hi".utf8), type: "text/plain")
    #expect(text(response) == "Status: 200\r\nContent-Type: text/plain\r\n\r\nhi")
  }

  @Test func `sends the asset by name alone`() {
    #expect(
      text(.asset(type: "image/png"))
        == "Status: 200\r\nContent-Type: image/png\r\nX-Sendfile: asset\r\n\r\n")
  }

  @Test func `redirects with a location and nothing else`() {
    #expect(
      text(.redirect(to: "https://example.org/")) == "Location: https://example.org/\r\n\r\n")
  }

  @Test func `keeps a line break in a field from forging another field`() {
    let response = PluginResponse.document(
      [], type: "text/plain\r\nSet-Cookie: a=b", fields: [("X-Note", "a\nb")])
    #expect(
      text(response)
        == "Status: 200\r\nContent-Type: text/plain Set-Cookie: a=b\r\nX-Note: a b\r\n\r\n")
  }

  private func text(_ response: PluginResponse) -> String {
    String(decoding: response.encoded(), as: UTF8.self)
  }
}
