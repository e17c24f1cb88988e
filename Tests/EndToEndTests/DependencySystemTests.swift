import Foundation
import Testing

/// Another package that depends on this one by a tag, as an app and a plugin do.
@Suite(.timeLimit(.minutes(30))) struct DependencySystemTests {
  @Test
  func `another package builds with both products, and so do the examples of their functions`()
    async throws
  {
    let scratch = try Scratch()
    let examples = try examples()
    #expect(examples.count > 30)
    let clients = String(decoding: try Package.bytes("docs/CLIENTS.md"), as: UTF8.self)
    let manifest = try block("Package.swift", of: clients)
      .replacing("https://git.example/richpush.git", with: scratch.folder.path + "/richpush")
      .replacing("targets: [", with: "targets: [" + Self.furtherTargets)
    #expect(manifest.contains(scratch.folder.path) && manifest.contains("\"Card\""))
    try scratch.drop(Array(manifest.utf8), as: "app/Package.swift")
    let sample = try block("Sources/Inbox/main.swift", of: clients)
    try scratch.drop(Array(sample.utf8), as: "app/Sources/Inbox/main.swift")
    for (name, program, isPlugin) in [("App", Self.client, false), ("Card", Self.plugin, true)] {
      let functions = examples.filter { $0.isPlugin == isPlugin }.map(\.function)
      let imports = isPlugin ? "import PluginKit\n" : Self.globals
      try scratch.drop(Array(program.utf8), as: "app/Sources/\(name)/main.swift")
      try scratch.drop(
        Array((imports + functions.joined()).utf8), as: "app/Sources/\(name)/Examples.swift")
    }
    let environment = ProcessInfo.processInfo.environment
      .filter { ["PATH", "HOME", "LANG"].contains($0.key) }
    let result = try await Child.run(
      "/bin/bash", ["-ec", Self.script, "bash", Package.root.path, scratch.folder.path],
      environment: environment)
    #expect(
      result.exitCode == 0,
      "\((result.output + [result.errors]).suffix(40).joined(separator: "\n"))")
    #expect(result.output.last == "the server does not answer")
    #expect(!result.output.contains { $0.contains("libsqlite3") || $0.contains("Networking") })
    #expect(result.output.contains { $0.contains("Test run with") && $0.contains("passed") })
  }

  /// Clones this package as it is in its folder, tags it, and runs what the other one builds.
  private static let script = """
    cd "$2"
    git clone --quiet "$1" richpush
    cp -r "$1/Package.swift" "$1/Sources" "$1/Tests" "$1/plugins" richpush
    git -C richpush add --all
    git -C richpush -c user.name=Test -c user.email=test@example.com \\
      commit --quiet --allow-empty --message release
    git -C richpush tag 0.2.0
    cd app
    swift build --disable-index-store >&2
    ldd .build/debug/App
    RICH_VERB=validate RICH_PAYLOAD=a .build/debug/Card </dev/null
    # What the sample for iOS is made of; the rest of it needs a Mac.
    cp -r "$1/docs/samples/ios/Shared" ../Shared
    cd ../Shared
    sed -i 's|path: "../../../.."|path: "../richpush"|' Package.swift
    swift test 2>&1
    cd ../app
    .build/debug/App
    """

  /// The fenced block of a page that names a file.
  private func block(_ file: String, of page: String) throws -> String {
    let parts = page.components(separatedBy: "\n```swift \(file)\n")
    try #require(parts.count == 2, "docs/CLIENTS.md has no \(file)")
    return parts[1].components(separatedBy: "\n```")[0] + "\n"
  }

  /// What the sample's manifest is given besides, so that all is built once.
  private static let furtherTargets = """
    .executableTarget(
      name: "App", dependencies: [.product(name: "RichPushClient", package: "richpush")]),
    .executableTarget(
      name: "Card", dependencies: [.product(name: "PluginKit", package: "richpush")]),
    """

  private static let client = """
    import Foundation
    import RichPushClient

    do {
      let server = URL(string: "http://127.0.0.1:1")!
      _ = try await RichPushClient(endpoint: server, user: "alice", password: "a").inbox()
    } catch let error as RichPushError where error.code == .unreachable {
      print("the server does not answer")
    }

    """

  /// What the examples use.
  private static let globals = """
    import Foundation
    import RichPushClient

    let url = URL(filePath: "/nowhere")
    let deviceToken = "00FC13"
    let (endpoint, publicKey, secret) = ("https://push.example/1", "BA", "AA")
    let (server, scanned) = (url, "7KQMWX4P")

    """

  private static let plugin = """
    import PluginKit

    serve { request in
      guard request.verb == .validate else { return .document([], type: "text/plain") }
      return .json("{}")
    }

    """

  /// An example in a comment, as a function.
  private struct Example {
    let isPlugin: Bool
    let function: String
  }

  /// The examples of all public functions.
  private func examples() throws -> [Example] {
    var examples: [Example] = []
    for module in ["RichPushAPI", "RichPushClient", "PluginKit"] {
      let folder = Package.root.appending(path: "Sources/\(module)")
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      for case let file as URL in files ?? .init()
      where file.pathExtension == "swift" && !file.path.contains("+Darwin") {
        var comment: [Substring] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
          let text = line.drop { $0 == " " }
          if text.hasPrefix("///") {
            comment.append(text.dropFirst(3).drop { $0 == " " })
            continue
          }
          if text.hasPrefix("@") { continue }
          let code = comment.drop { $0 != "```swift" }.dropFirst().prefix { $0 != "```" }
          if text.hasPrefix("public func") || text.hasPrefix("public static func") {
            let isForCompiler = text.contains("(from decoder") || text.contains("encode(to")
            let isIterator = text.contains("makeAsyncIterator")
            #expect(!code.isEmpty || isForCompiler || isIterator, "\(file.path): \(text)")
          }
          if !code.isEmpty {
            examples.append(
              example(examples.count, code.joined(separator: "\n"), isPlugin: module == "PluginKit")
            )
          }
          comment = []
        }
      }
    }
    return examples
  }

  private func example(_ number: Int, _ code: String, isPlugin: Bool) -> Example {
    let head =
      isPlugin
      ? "(_ request: PluginRequest) throws -> PluginResponse {"
      : "(_ given: RichPushClient) async throws {\nvar client = given; _ = client.device; client.device = nil"
    // In a scope of its own, an example may have a `client`, too.
    let function = "func example\(number)\(head)\ndo {\n\(code)\n}\n}\n"
    return Example(isPlugin: isPlugin, function: function)
  }
}
