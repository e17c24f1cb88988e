import Foundation
import RichPushClient
import Testing

/// What a sandbox must let programs do: the same as without one.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WellBehavedSystemTests {
  /// What they say without a sandbox, in a server of the tests' own user.
  private static let free = Task {
    try await answers(of: HostileMode(plugins: .own, landlock: HostileMode.kernel), sandbox: "off")
  }

  @Test(arguments: HostileMode.standard.filter { $0.impediment == nil })
  func `answer in every mode as without a sandbox`(mode: HostileMode) async throws {
    let free = try await Self.free.value
    let held = try await Self.answers(of: mode, sandbox: "standard")
    for program in WellBehaved.all {
      let answer = free[program.name] ?? ""
      #expect(answer.contains("\(program.name) says"))
      #expect(held[program.name] == answer)
    }
  }

  /// What each says twice: a resident one does not start anew for the second time.
  private static func answers(of mode: HostileMode, sandbox: String) async throws -> [String:
    String]
  {
    var answers: [String: String] = [:]
    try await mode.lend(
      flags: ["--demo", "--sandbox", sandbox],
      prepare: { scratch in
        for program in WellBehaved.all {
          let folder = "plugins/\(program.name)"
          try scratch.drop(Array(program.manifest.utf8), as: folder + "/plugin.json")
          try scratch.drop(
            Array(program.program.utf8), as: "\(folder)/\(program.name)", executable: true)
          try scratch.drop(
            Package.bytes("assets/img/logo.png"), as: "assets/\(program.name)/logo.png")
        }
      },
      to: { server in
        for program in WellBehaved.all {
          let made = try? await server.client("alice").create(
            NewNotification(
              "m", richType: program.name, payload: "logo.png", to: .users(["alice"])))
          let connection = try RawConnection(port: server.port)
          for _ in 0..<2 {
            connection.ask("GET", "/api/notifications/\(made?.id ?? 0)?now=1")
            answers[program.name, default: ""] += try connection.answer().text
          }
        }
        let failures = server.log.split(separator: "\n").filter { $0.contains("says") }
        #expect(failures.isEmpty, "\(mode.title), \(sandbox): \(failures)")
      })
    return answers
  }
}
