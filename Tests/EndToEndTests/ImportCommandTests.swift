import Foundation
import RichPushClient
import Testing

/// `richpush people import`.
@Suite(.timeLimit(.minutes(5))) struct ImportCommandTests {
  private static func run(
    _ words: String..., on server: RunningServer, input: String? = nil
  ) async throws -> Child.Result {
    try await Child.run(
      "richpush",
      ["people"] + words + ["--user", "shop", "--server", server.endpoint.absoluteString],
      input: input)
  }

  @Test func `attributes are imported from CSV, and shown`() async throws {
    try await RunningServer.lend { server in
      for user in ["alice", "bob"] { _ = try await server.client(user).inbox() }
      let file = server.scratch.folder.appending(path: "people.csv").path
      let text =
        "\u{FEFF}username,name,city\r\nalice,\"Alice \"\"A\"\"\nBlue\",Bern\r\n\r\nbob,Bob,\r\n"
      try Data(text.utf8).write(to: URL(filePath: file))
      let trial = try await Self.run("import", file, "--dry-run", on: server)
      let words = "changed: 2, unchanged: 0, refused: 0"
      #expect(trial.exitCode == 0 && trial.output == ["would be \(words)"], "\(trial.errors)")
      #expect(try await server.client("shop").attributes(of: "bob") == [:])
      let done = try await Self.run("import", file, on: server)
      #expect(done.exitCode == 0 && done.output == [words], "\(done.errors)")
      let alice = try await server.client("shop").attributes(of: "alice")
      #expect(alice == ["name": "Alice \"A\"\nBlue", "city": "Bern"])
      #expect(try await Self.run("attributes", "bob", on: server).output == ["name=Bob"])

      let wrong = "username,name\nzoe,Z\nbob,Robert\nalice\n"
      let some = try await Self.run("import", "-", on: server, input: wrong)
      #expect(some.exitCode == 65 && some.output == ["changed: 1, unchanged: 0, refused: 2"])
      for words in [
        "standard input, line 2: There is no user “zoe”", "standard input, line 4: It has 1 field",
        "lines of standard input were not taken",
      ] {
        #expect(some.errors.contains(words), "\(some.errors)")
      }
      let json = try await Self.run("import", "-", "--json", on: server, input: wrong)
      let report = try JSONDecoder().decode(
        ImportReport.self, from: Data(json.output.joined().utf8))
      #expect(report.unchanged == 1 && report.lines.map(\.line) == [2, 4])
      #expect(try await Self.run("attributes", "bob", on: server).output == ["name=Robert"])

      let headless = try await Self.run("import", "-", on: server, input: "name\nx\n")
      #expect(headless.exitCode == 65 && headless.errors.contains("no column “username”"))
      #expect(try await Self.run("import", "/none.csv", on: server).exitCode == 66)
    }
  }

  @Test func `what Python's csv module writes is imported as it was`() async throws {
    try await RunningServer.lend { server in
      for user in ["alice", "bob"] { _ = try await server.client(user).inbox() }
      let folder = server.scratch.folder
      let program = #"""
        import csv, sys
        rows = [["username", "name", "city"],
            ["alice", 'Ann "A", Blue; Red', "two\r\nlines\rand\nmore"], ["bob", " ünï😀 ", '"""']]
        for number, (delimiter, quoting) in enumerate([(",", csv.QUOTE_MINIMAL), (";", csv.QUOTE_ALL)]):
            with open(f"{sys.argv[1]}/{number}.csv", "w", newline="", encoding="utf-8-sig") as file:
                csv.writer(file, delimiter=delimiter, quoting=quoting).writerows(rows)
        """#
      let python = try await Tool.run("python", ["-c", program, folder.path])
      try #require(python.exitCode == 0, "\(python.errors)")
      for (number, words) in ["changed: 2", "changed: 0, unchanged: 2"].enumerated() {
        let done = try await Self.run("import", "\(folder.path)/\(number).csv", on: server)
        #expect(done.exitCode == 0 && done.output.first?.hasPrefix(words) == true, "\(done.errors)")
      }
      let shop = server.client("shop")
      let alice = ["name": "Ann \"A\", Blue; Red", "city": "two\r\nlines\rand\nmore"]
      #expect(try await shop.attributes(of: "alice") == alice)
      #expect(try await shop.attributes(of: "bob") == ["name": " ünï😀 ", "city": "\"\"\""])
    }
  }
}
