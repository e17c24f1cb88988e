import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// What people answer, from the push to the publisher.
@Suite(.timeLimit(.minutes(5))) struct AnswerTests {
  private static let question: NewNotification = {
    var new = NewNotification(
      "Look", richType: "img", payload: "logo.png", to: .users(["alice"]))
    var answer = MessageAction("answer", label: "Reply")
    answer.input = "Your answer"
    new.message.actions = [MessageAction("yes", label: "Yes"), answer]
    new.form = .alert
    return new
  }()

  /// The status of a report, by what somebody has who saw a push.
  private func report(
    _ body: String, of id: Int, link: String = "", secret: String? = nil, to server: RunningServer
  ) throws -> Int {
    let authorization = secret.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    return try RawConnection(port: server.port).exchange(
      "POST /api/notifications/\(id)/interactions\(link) HTTP/1.1\r\n\(authorization)"
        + "Content-Length: \(body.utf8.count)\r\n", body: Array(body.utf8)
    ).status
  }

  @Test func `replies outlive a crash, and a stolen link can neither act nor reply`() async throws {
    try await PushServices.lend(
      lanes: "apns", flags: ["--public-url", "https://push.example"]
    ) { server, services in
      let phone = try await server.client("alice").register(handle: "0A")
      let id = try await server.client("shop").create(Self.question).id
      let push = try #require(try await services.apns.pushes(1).first)
      let url = try #require(push.json.att.url.text)
      let (secret, link) = (
        try #require(push.json.richSecret.text),
        "?to=" + (try #require(url.components(separatedBy: "&to=").last))
      )
      #expect(!url.contains(secret))
      let action = #"{"event":"action","action":"yes"}"#
      func reply(_ text: String, _ key: String) -> String {
        #"{"event":"reply","action":"answer","text":"\#(text)","key":"\#(key)"}"#
      }
      for stolen in [action, reply("not mine", "x")] {
        #expect(try report(stolen, of: id, link: link, to: server) == 403)
        #expect(try report(stolen, of: id, to: server) == 401)
        // The media's own link and what is in it are no secret, either.
        #expect(try report(stolen, of: id, secret: String(link.dropFirst(4)), to: server) == 401)
      }
      #expect(try report(#"{"event":"opened"}"#, of: id, link: link, to: server) == 200)
      #expect(try report(action, of: id, secret: secret, to: server) == 201)
      #expect(try report(reply("one", "a"), of: id, secret: secret, to: server) == 201)
      try await server.restart(by: SIGKILL)
      #expect(try report(reply("one", "a"), of: id, secret: secret, to: server) == 200)
      #expect(try report(reply("two", "b"), of: id, secret: secret, to: server) == 201)
      let shop = server.client("shop")
      let answers = try await shop.interactions(of: id).interactions
      #expect(answers.map(\.event) == [.action, .reply, .reply])
      #expect(answers.map(\.text) == [nil, "one", "two"])
      #expect(answers.allSatisfy { $0.user == "alice" && $0.device == phone })
      let counts = try #require(try await shop.details(id).counts)
      #expect(counts.opened == 1 && counts.actions == 1 && counts.replies == 2)
      #expect(try server.deliveries(of: id) == ["apns opened"])
    }
  }

  @Test func `a device of the command line shows, presses and replies, and the sender lists it`()
    async throws
  {
    try await RunningServer.lend { server in
      let folder = server.scratch.folder.appending(path: "phone").path
      let id = try await server.client("shop").create(Self.question).id
      let address = ["--server", server.endpoint.absoluteString]
      // It begins to listen after that one; the next two are its own.
      for (button, texts) in [("yes", []), ("answer", ["--reply", "On my way"])] {
        let child = try Child(
          "richpush",
          ["device", "--user", "alice", "--folder", folder, "--count", "1", "--press", button]
            + texts + address)
        var lines = child.lines.makeAsyncIterator()
        #expect(await lines.next()?.contains("listens at") == true)
        _ = try await server.client("shop").create(Self.question)
        #expect(await child.exitCode() == 0, "\(child.errors)")
      }
      let sent = { (number: Int) in
        let words = ["sent", "interactions", "\(number)", "--user", "shop", "--json"]
        return try await Child.run("richpush", words + address).output.map {
          try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
        }
      }
      let first = try await sent(id + 1)
      #expect(first.map(\.event.text) == ["action"] && first.map(\.action.text) == ["yes"])
      let second = try await sent(id + 2)
      let texts = second.compactMap { $0.members?["text"]?.text }
      #expect(texts == ["On my way"] && second.map(\.user.text) == ["alice"])
      let counts = try #require(try await server.client("shop").details(id + 2).counts)
      #expect(counts.displayed == 1 && counts.replies == 1)
    }
  }
}
