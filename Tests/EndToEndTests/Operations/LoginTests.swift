import Foundation
import RichPushClient
import Testing

/// Who may come in, and who has to wait.
@Suite(.timeLimit(.minutes(5))) struct LoginTests {
  @Test func `who guesses passwords has to wait, and learns nothing about names`() async throws {
    // Every six seconds a guess is forgotten: a machine that takes as long for all of them is given another try.
    var attempts = 0
    repeat { attempts += 1 } while try await !guess(isLast: attempts == 3)
  }

  /// False if it was not done in time, and is to be repeated.
  private func guess(isLast: Bool) async throws -> Bool {
    var wasInTime = false
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
      let start = ContinuousClock.now
      let guesses = try (0..<20).map { number in
        try ask(number.isMultiple(of: 2) ? "alice" : "nobody", "guess\(number)")
      }
      let (known, unknown) = (try ask("alice", "guess"), try ask("nobody", "guess"))
      wasInTime = .now - start < .seconds(5)
      guard wasInTime || isLast else { return }
      #expect(guesses.allSatisfy { $0.status == 401 })
      for answer in [known, unknown] {
        #expect(answer.status == 429)
        #expect((answer.fields["retry-after"].flatMap(Int.init) ?? 0) > 0)
        #expect(answer.fields["www-authenticate"] == nil)
      }
      #expect(Set(known.fields.keys) == Set(unknown.fields.keys))
      #expect(try ask("alice", "a good secret").status == 200, "who is in stays in")
      #expect(try server.measured(#"richpush_logins_refused_total{reason="wrong"}"#) == 20)
      #expect(try server.measured(#"richpush_logins_refused_total{reason="limit"}"#) == 2)
    }
    return wasInTime || isLast
  }

  @Test func `warns of what an operator forgets`() async throws {
    try await RunningServer.lend(flags: []) { server in
      #expect(server.log.contains("no users yet"))
      #expect(!server.log.contains("unencrypted"))
    }
  }
}
