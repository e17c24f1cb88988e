import Foundation
import RichPushClient
import Testing

/// Who may come in, and who has to wait.
@Suite(.timeLimit(.minutes(5))) struct LoginTests {
  @Test func `who guesses passwords has to wait, and learns nothing about names`() async throws {
    try await RunningServer.lend(flags: []) { scratch in
      let data = scratch.folder.path + "/var"
      let added = try await Child.run(
        "richpush", ["user", "add", "alice", "--data", data], input: "a good secret\n")
      #expect(added.exitCode == 0, "\(added.errors)")
    } to: { server in
      func ask(_ user: String, _ password: String) throws -> RawConnection.Answer {
        try server.get("/api/notifications", RunningServer.credentials(user, password))
      }
      #expect(try ask("alice", "a good secret").status == 200)
      for number in 0..<10 {
        let answer = try ask(number.isMultiple(of: 2) ? "alice" : "nobody", "guess\(number)")
        #expect(answer.status == 401)
      }
      let (known, unknown) = (try ask("alice", "guess"), try ask("nobody", "guess"))
      for answer in [known, unknown] {
        #expect(answer.status == 429)
        #expect((answer.fields["retry-after"].flatMap(Int.init) ?? 0) > 0)
        #expect(answer.fields["www-authenticate"] == nil)
      }
      #expect(Set(known.fields.keys) == Set(unknown.fields.keys))
      #expect(try ask("alice", "a good secret").status == 200, "who is in stays in")
      #expect(try server.measured(#"richpush_logins_refused_total{reason="wrong"}"#) == 10)
      #expect(try server.measured(#"richpush_logins_refused_total{reason="limit"}"#) == 2)
    }
  }

  @Test func `warns of what an operator forgets`() async throws {
    try await RunningServer.lend(flags: []) { server in
      #expect(server.log.contains("no users yet"))
      #expect(!server.log.contains("unencrypted"))
    }
  }
}
