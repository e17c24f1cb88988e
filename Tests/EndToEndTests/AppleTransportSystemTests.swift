import Foundation
import Testing

/// The client library as Apple's platforms compile it, with the `URLSession` of Foundation for Linux.
///
/// This is no substitute for Apple's compiler, but finds what is wrong with types and with the requests. A
/// wrong password is left out: Foundation for Linux answers the 401 by trying again for ever.
@Suite(.timeLimit(.minutes(30))) struct AppleTransportSystemTests {
  @Test func `the transport by URLSession uploads, creates, fetches, downloads and streams`()
    async throws
  {
    try await RunningServer.lend { server in
      let scratch = try Scratch()
      try scratch.drop(Array(Self.manifest.utf8), as: "Package.swift")
      try scratch.drop(Array(Self.program.utf8), as: "App/main.swift")
      let shore = Package.root.appending(path: "Tests/Samples/shore.jpg")
      let result = try await Child.run(
        "/bin/bash",
        ["-ec", Self.script, "bash", Package.root.path, scratch.folder.path]
          + ["http://127.0.0.1:\(server.port)", shore.path],
        environment: ProcessInfo.processInfo.environment
          .filter { ["PATH", "HOME", "LANG"].contains($0.key) })
      #expect(
        result.exitCode == 0,
        "\((result.output + [result.errors]).suffix(40).joined(separator: "\n"))")
      let size = try Data(contentsOf: shore).count
      #expect(
        result.output.suffix(4) == [
          "media of \(size) bytes, image/jpeg", "a file of \(size) bytes", "told of it",
          "notFound",
        ])
    }
  }

  /// Copies the sources, and compiles those of Apple's platforms instead of Linux's.
  private static let script = """
    cp -r "$1"/Sources/{JSON,RichPushAPI,RichPushClient} "$2"
    cd "$2/RichPushClient/Transport"
    grep -L '^#if !canImport(Darwin)' -- *.swift >others
    for file in *.swift; do grep -qx -- "$file" others || rm -- "$file"; done
    rm others
    sed -i 's/^#if canImport(Darwin)$/import FoundationNetworking\\n#if true/' HTTPTransport+Darwin.swift
    cd "$2"
    swift build --disable-index-store >&2
    .build/debug/App "$3" "$4"
    """

  private static let manifest = """
    // swift-tools-version: 6.0
    import PackageDescription

    let package = Package(
      name: "apple",
      targets: [
        .target(name: "JSON", path: "JSON"),
        .target(name: "RichPushAPI", dependencies: ["JSON"], path: "RichPushAPI"),
        .target(
          name: "RichPushClient", dependencies: ["JSON", "RichPushAPI"], path: "RichPushClient"),
        .executableTarget(
          name: "App", dependencies: ["RichPushClient", "RichPushAPI"], path: "App"),
      ])

    """

  private static let program = """
    import Foundation
    import RichPushAPI
    import RichPushClient

    let (server, file) = (URL(string: CommandLine.arguments[1])!, CommandLine.arguments[2])
    let shop = RichPushClient(endpoint: server, user: "shop", password: "shop")
    let alice = RichPushClient(endpoint: server, user: "alice", password: "alice")
    _ = try await shop.upload(URL(fileURLWithPath: file), name: "shore.jpg", richType: "img")
    while try await shop.asset("shore.jpg", richType: "img").state != .ready {
      try await Task.sleep(nanoseconds: 20_000_000)
    }
    let new = NewNotification("Look", richType: "img", payload: "shore.jpg", to: .users(["alice"]))
    let id = try await shop.create(new).id
    let media = try await alice.media(id)
    print("media of \\(media.bytes.count) bytes, \\(media.contentType)")
    let copy = try await alice.download(id)
    print("a file of \\(try Data(contentsOf: copy.url).count) bytes")
    for try await event in alice.events(after: "0") where event.push.id == id {
      print("told of it")
      break
    }
    do {
      _ = try await alice.details(1 << 40)
    } catch let error as RichPushError {
      print(error.code)
    }

    """
}
