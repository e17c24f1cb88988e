import Foundation
import RichPushClient
import Testing
import Waiting

/// An author's first five minutes: from an empty folder to a type that phones fetch, and away again.
@Suite(.timeLimit(.minutes(5))) struct AuthorWalkTests {
  @Test(arguments: ["sh", "python", "perl", "php", "swift"])
  func `makes, tries, publishes, changes and removes a type while the server runs`(
    language: String
  ) async throws {
    try await RunningServer.lend { scratch in
      for name in ["assets", "plugins"] {
        try FileManager.default.removeItem(at: scratch.folder.appending(path: name))
      }
    } to: { server in
      let plugins = server.scratch.folder.appending(path: "plugins")
      try await expect("new", "card", "--language", language, in: plugins)
      let folder = plugins.appending(path: "card")
      let test = try await Child.run("/bin/sh", [folder.path + "/test.sh"])
      #expect(test.exitCode == 0, "\(test)")
      try await expect("run", "card", "--asset", folder.path + "/plugin.json", in: plugins)

      let alice = server.client("alice")
      let card = NewNotification("m", richType: "card", payload: "Hello", to: .users(["alice"]))
      let id = try await alice.create(card).id
      let text = { String(decoding: try await alice.media(id).bytes, as: UTF8.self) }
      #expect(try await text().contains(#""text":"Hello""#))
      await #expect(throws: RichPushError.self) {
        try await alice.create(
          NewNotification("m", richType: "card", payload: "", to: .users(["alice"])))
      }
      try await change(folder, language)
      try await eventually("the new version answers") {
        try await text().contains(#""words":"Hello""#)
      }
      let list = try await expect(
        "list", "--server", server.endpoint.absoluteString, in: plugins)
      #expect(list.contains { $0.hasPrefix("card ") && $0.contains("ready") }, "\(list)")
      #expect(list.contains { $0.hasPrefix("sandbox: standard") }, "\(list)")

      try FileManager.default.removeItem(at: folder)
      try await eventually("it is gone") { (try? await text()) == nil }
      let error = await #expect(throws: RichPushError.self) { try await alice.create(card) }
      #expect(error?.status == 422, "\(String(describing: error))")
    }
  }

  /// Runs `richpush plugin` and gives what it said.
  @discardableResult
  private func expect(_ words: String..., in plugins: URL) async throws -> [String] {
    let result = try await Child.run(
      "richpush", ["plugin"] + words + ["--plugins", plugins.path], environment: path)
    #expect(result.exitCode == 0, "\(words): \(result)")
    return result.output
  }

  /// Calls the text of the card something else, as an author with an editor does.
  private func change(_ folder: URL, _ language: String) async throws {
    let source = folder.appending(path: language == "swift" ? "main.swift" : "card")
    let text = try String(contentsOf: source, encoding: .utf8)
    let changed = text.replacing(/([^$])text(["'\\]| =>)/) { "\($0.1)words\($0.2)" }
    try #require(changed != text)
    try changed.write(to: source, atomically: false, encoding: .utf8)
    guard language == "swift" else { return }
    let build = try await Child.run(
      "/bin/sh", [folder.path + "/build.sh"], environment: path)
    try #require(build.exitCode == 0, "\(build)")
  }

  private var path: [String: String] {
    ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
  }
}
