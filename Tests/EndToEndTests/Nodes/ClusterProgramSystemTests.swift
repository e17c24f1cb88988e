import Foundation
import RichPushClient
import Testing
import Waiting

/// Three nodes on one machine by one command.
@Suite(
  .enabled(
    if: ClusterProgram.isPossible, "needs the packages haproxy, postgresql-15 and python3-swift"),
  .serialized, .timeLimit(.minutes(10)))
struct ClusterProgramSystemTests {
  @Test func `it starts, loses a node, is upgraded without a failure, and leaves nothing behind`()
    async throws
  {
    let cluster = try ClusterProgram()
    let lines = try await cluster.run(cluster.up())
    #expect(lines.exitCode == 0, "\(lines)")
    #expect(lines.output.last?.contains("\(cluster.endpoint)") == true, "\(lines.output)")
    #expect(try await cluster.expect("up").last == lines.output.last, "again")
    try await cluster.expect("status")
    let started = cluster.processes
    #expect(started.count >= 9, "\(started)")

    let upgraded = try await ClusterTraffic.during(cluster, patience: .zero) {
      let lines = try await cluster.expect("upgrade")
      #expect(lines.count == 4, "\(lines)")
    }
    #expect(upgraded.failures.isEmpty && upgraded.fetches > 10, "\(upgraded.failures)")
    #expect(upgraded.repeated == 0 && upgraded.acknowledged.count > 3)

    let bereft = try await ClusterTraffic.during(cluster, patience: .zero) {
      try await cluster.expect("kill", "2")
      let status = try await cluster.run(["status"])
      #expect(status.exitCode == 1, "\(status)")
      #expect(status.output.contains { $0.contains(#/node2 +- .* does not run/#) }, "\(status)")
      try await cluster.expect("start", "2")
    }
    #expect(bereft.failures.isEmpty && bereft.fetches > 10, "\(bereft.failures)")
    try await cluster.expect("status")

    // A version that does not start is tried at one node only; the former one takes its place again.
    let scratch = try Scratch()
    #expect(chmod(scratch.folder.path, 0o755) == 0)
    let broken = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'richpush 9.9' && exit\nexit 1\n"
    let program = try scratch.drop(Array(broken.utf8), as: "richpush", executable: true).path
    let refused = try await cluster.run(["upgrade", "--program", program])
    #expect(refused.exitCode == 1, "\(refused)")
    #expect(refused.errors.contains("node 1 does not become ready"), "\(refused)")
    _ = try await cluster.client("alice").inbox(limit: 1)
    try await cluster.expect("upgrade")
    try await cluster.expect("status")
    #expect(try await cluster.expect("run", "store", "check").last?.contains("verified") == true)

    try await cluster.expect("down")
    #expect(cluster.processes.isEmpty, "\(cluster.processes)")
    #expect(try cluster.portsAreFree())
    // The data is there.
    try await cluster.expect("up", "--nodes", "1")
    let inbox = try await cluster.client("alice").inbox(limit: 1)
    #expect(inbox.notifications.first.map { bereft.acknowledged.values.contains($0.id) } == true)
    // Nobody else's file is removed.
    let note = cluster.folder + "/note"
    try Data("mine".utf8).write(to: URL(filePath: note))
    #expect(try await cluster.expect("down", "--purge").last?.contains("note") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: cluster.folder) == ["note"])
    #expect(cluster.processes.isEmpty, "\(cluster.processes)")
    try FileManager.default.removeItem(atPath: cluster.folder)
  }

  @Test func `where it was killed, it continues`() async throws {
    let cluster = try ClusterProgram()
    for ready in ["PostgreSQL ", "object store ", "node 1 "] {
      let child = try Child(ClusterProgram.path, ["--folder", cluster.folder] + cluster.up())
      for await line in child.lines where line.hasPrefix(ready) { child.send(SIGKILL) }
      #expect(await child.exitCode() == -SIGKILL, "\(child.errors)")
    }
    let result = try await cluster.run(cluster.up())
    #expect(result.exitCode == 0, "\(result)")
    let names = cluster.processes.filter { $0.contains("richpush serve") }
    #expect(names.count >= 3, "\(cluster.processes)")
    try await cluster.expect("down", "--purge")
    #expect(cluster.processes.isEmpty, "\(cluster.processes)")
    #expect(!FileManager.default.fileExists(atPath: cluster.folder))
  }

  @Test func `what it cannot do is a sentence, and nothing is left of it`() async throws {
    let cluster = try ClusterProgram()
    let (up, scratch) = (try cluster.up(), try Scratch())
    #expect(chmod(scratch.folder.path, 0o755) == 0)
    try scratch.drop([1], as: "file")
    try await RunningServer.lend { server in
      for (words, code, sentence) in [
        (up + ["--listen", "127.0.0.1:\(server.port)"], 1, "another program listens on"),
        (up + ["--folder", scratch.folder.path], 1, "other files"),
        (up + ["--folder", cluster.folder + String(repeating: "x", count: 100)], 1, "too long"),
        (up + ["--program", "/bin/true"], 1, "is not richpush"),
        (up + ["--bucket", "s3://media"], 1, "RICHPUSH_OBJECTS_ACCESS_KEY"),
        (up + ["--nodes", "0"], 64, "from 1 to 20"), (up + ["--noodles"], 64, "--noodles"),
        (["status"], 1, "there is no cluster"), (["frob"], 64, "frob"),
      ] {
        let result = try await cluster.run(words)
        #expect(Int(result.exitCode) == code, "\(words) \(result)")
        #expect(result.errors.contains(sentence), "\(words) \(result)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(words) \(result)")
        #expect(cluster.processes.isEmpty, "\(words): \(cluster.processes)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) == ["file"])
    let left = try? FileManager.default.contentsOfDirectory(atPath: cluster.folder)
    #expect(left ?? [] == ["lock"] || left == nil, "\(left ?? [])")
    try? FileManager.default.removeItem(atPath: cluster.folder)
  }

  @Test func `it names the packages that are missing`() async throws {
    let cluster = try ClusterProgram()
    // As on a Debian without them.
    let hidden = ["/usr/lib/postgresql", "/usr/lib/python3/dist-packages/swift"]
    let result = try await Child.run(
      "/usr/bin/bwrap",
      ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/sbin/haproxy"]
        + hidden.flatMap { ["--tmpfs", $0] }
        + ["--", ClusterProgram.path, "--folder", cluster.folder] + cluster.up())
    #expect(result.exitCode == 1, "\(result)")
    #expect(
      result.errors.hasSuffix(
        "apt-get install --no-install-recommends haproxy postgresql python3-swift\n"), "\(result)")
    try? FileManager.default.removeItem(atPath: cluster.folder)
  }

  @Test func `it begins with a copy of a data folder whose server runs`() async throws {
    let cluster = try ClusterProgram()
    try await RunningServer.lend(unprivileged: true) { server in
      let shop = server.client("shop")
      let id = try await shop.create(.logo(to: "alice", "from before")).id
      let picture = try await server.client("alice").media(id).bytes
      let data = server.scratch.folder.appending(path: "var").path
      let owner = getuid() == 0 ? ["--user", "nobody"] : []
      let result = try await cluster.run(cluster.up() + ["--from", data] + owner)
      #expect(result.exitCode == 0, "\(result)")
      let inbox = try await cluster.client("alice").inbox(limit: 1)
      #expect(inbox.notifications.first?.message.text == "from before")
      for (name, port) in try cluster.settings().ports where name.hasPrefix("node") {
        let node = RichPushClient(
          endpoint: try #require(URL(string: "http://127.0.0.1:\(port)")), user: "alice",
          password: "alice")
        #expect(try await node.media(id).bytes == picture, "\(name)")
      }
      // Where the content is, nobody else is let in; this process is another user's then.
      for name in ["swift-account", "swift-container", "swift-object"] where getuid() == 0 {
        let port = try #require(try cluster.settings().ports[name])
        let answer = try await Child.run(
          "/usr/bin/curl",
          [
            "-s", "-o", "/dev/null", "-w", "%{http_code}",
            "http://127.0.0.1:\(port)/d1/0/AUTH_richpush",
          ])
        #expect(answer.output == ["403"], "\(name): \(answer)")
      }
      // The server goes on with its own.
      _ = try await shop.create(.logo(to: "alice"))
      try await cluster.expect("down", "--purge")
    }
  }

  @Test func `its manual page is as mandoc wants it, and has all its commands`() async throws {
    let page = try await Child.run(ClusterProgram.path, ["manual"]).output
    let lint = try await Child.run(
      "/usr/bin/mandoc", ["-T", "lint", "-W", "warning"],
      input: page.joined(separator: "\n") + "\n")
    #expect(lint.output.isEmpty && lint.exitCode == 0, "\(lint.output)")
    for command in ["up", "status", "upgrade", "run", "down", "kill", "stop", "start", "pause"] {
      #expect(page.contains { $0.hasPrefix("  richpush-cluster \(command) ") }, "\(command)")
    }
  }

  @Test func `the cluster of compose.yml is one that the image and HAProxy can be`() async throws {
    let result = try await Child.run(
      "/usr/bin/python3",
      [Package.root.appending(path: "Tests/Packaging/cluster.py").path],
      environment: ["PROGRAM": try Package.program("richpush").path])
    #expect(result.exitCode == 0, "\(result.output) \(result.errors)")
  }
}
