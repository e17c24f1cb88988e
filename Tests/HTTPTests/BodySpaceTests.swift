import FoundationEssentials
import Testing

@testable import HTTP

/// An upload for which the disk has no space is refused before it is sent.
@Suite(.timeLimit(.minutes(1))) struct BodySpaceTests {
  private static func saving(in folder: String) -> @Sendable (Request) -> ResponsePlan {
    { request in
      guard request.method == "PUT" else { return .immediate(.text(200, "quick")) }
      return .savingBody(limit: 1 << 30, folder: folder, deadline: .seconds(60)) { saved in
        .text(200, "\(saved.size)")
      }
    }
  }

  @Test func `asks for the body of an upload when its file is made`() async throws {
    let folder = FileManager.default.temporaryDirectory.path
    try await TestServer.with(Self.saving(in: folder + "/none")) { served in
      let client = RawClient(served.port)
      client.send(
        "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      #expect(client.reply().status == 507, "not 100")
    }
    try await TestServer.with(Self.saving(in: folder)) { served in
      let client = RawClient(served.port)
      client.send(
        "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      #expect(client.reply().status == 100)
      client.send("hello")
      #expect(client.reply().text == "5")
    }
  }

  @Test func `refuses an upload for which the disk has no space before it is sent`() async throws {
    let folder = FileManager.default.temporaryDirectory.path
    try await TestServer.with({ _ in
      .savingBody(limit: 1 << 30, folder: folder, reserve: .max >> 1, deadline: .seconds(60)) {
        .text(200, "\($0.size)")
      }
    }) { served in
      let client = RawClient(served.port)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
      let reply = client.reply()
      #expect(reply.status == 507 && reply.text.contains("disk is full"))
      #expect(reply.fields["retry-after"] == "30")
    }
  }
}
