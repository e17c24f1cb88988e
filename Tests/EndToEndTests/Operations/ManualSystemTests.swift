import Foundation
import Testing

/// The manual pages and completions, with the programs that read them.
@Suite(.timeLimit(.minutes(3))) struct ManualSystemTests {
  private static func output(_ words: String...) async throws -> String {
    let result = try await Child.run("richpush", words)
    #expect(result.exitCode == 0, "\(result.errors)")
    return result.output.joined(separator: "\n") + "\n"
  }

  private static func flags(of command: String) async throws -> Set<String> {
    let help = try await output("help", command)
    return Set(help.matches(of: #/\n  (--[a-z-]+)/#).map { String($0.1) }).union(["--help"])
  }

  private static func run(_ shell: String, _ script: String) async throws -> [String] {
    let result = try await Child.run(
      "/usr/bin/\(shell)", ["-c", script],
      environment: ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/tmp", "XDG_DATA_HOME": "/tmp"])
    #expect(result.errors == "", "\(shell): \(result.errors)")
    return result.output
  }

  @Test func `mandoc has nothing to say about any page`() async throws {
    let commands = try await Self.output("completion", "commands").split(
      whereSeparator: \.isWhitespace)
    #expect(commands.count > 10)
    for words in [["manual"]] + commands.map({ ["manual", String($0)] }) {
      let page = try await Child.run("richpush", words).output.joined(separator: "\n") + "\n"
      let lint = try await Child.run(
        "/usr/bin/mandoc", ["-T", "lint", "-W", "warning"], input: page)
      #expect(lint.output.isEmpty && lint.exitCode == 0, "\(words) \(lint.output)")
    }
    let shown = try await Child.run(
      "/usr/bin/mandoc", ["-T", "ascii"], input: try await Self.output("manual", "serve"))
    #expect(shown.output.joined().contains("127.0.0.1:8080"))
  }

  @Test func `bash completes commands, actions and flags`() async throws {
    let scratch = try Scratch()
    let file = try scratch.drop(Array(try await Self.output("completion", "bash").utf8), as: "bash")
    func completed(_ words: String) async throws -> Set<String> {
      Set(
        try await Self.run(
          "bash",
          """
          set -eu; source \(file.path); COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
          _richpush; printf '%s\\n' "${COMPREPLY[@]}"
          """))
    }
    #expect(try await completed("richpush serve --") == Self.flags(of: "serve"))
    #expect(
      try await completed("richpush user ''")
        == [
          "add", "password", "quota", "list", "devices", "pair", "pairings", "link", "unlink",
          "waiting", "approve", "remove", "export", "erase",
        ])
    #expect(try await completed("richpush comp") == ["completion"])
    #expect(try await completed("richpush serve --data /usr/shar").contains("/usr/share"))
  }

  @Test func `fish completes commands, actions and flags`() async throws {
    let scratch = try Scratch()
    let file = try scratch.drop(Array(try await Self.output("completion", "fish").utf8), as: "fish")
    func completed(_ line: String) async throws -> Set<String> {
      let lines = try await Self.run("fish", "source \(file.path); complete -C '\(line)'")
      return Set(lines.map { String($0.prefix { $0 != "\t" }) })
    }
    #expect(try await completed("richpush serve --") == Self.flags(of: "serve"))
    #expect(try await completed("richpush user ").isSuperset(of: ["add", "password"]))
    #expect(try await completed("richpush comp") == ["completion"])
  }

  @Test func `zsh accepts its completion, which has every flag`() async throws {
    let scratch = try Scratch()
    let text = try await Self.output("completion", "zsh")
    let file = try scratch.drop(Array(text.utf8), as: "_richpush")
    // `_arguments` is replaced by a function that prints its specifications.
    let printed = try await Self.run(
      "zsh",
      """
      compdef() { }; _describe() { print -l -- $commands }; _arguments() { print -l -- "$@" }
      _files() { }; CURRENT=3; words=(richpush serve --)
      source \(file.path); _richpush
      """)
    let flags = printed.compactMap { $0.firstMatch(of: #/^\*?(--[a-z-]+)/#)?.1 }.map(String.init)
    #expect(try await Set(flags) == Self.flags(of: "serve"), "\(printed)")
  }
}
