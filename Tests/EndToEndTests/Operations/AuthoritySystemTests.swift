import Foundation
import StandIns
import Testing

/// Whose certificates a program trusts, by what is in `/etc/ssl/certs`.
@Suite(.timeLimit(.minutes(5))) struct AuthoritySystemTests {
  @Test(.enabled(if: getuid() == 0, "only root may mount a folder"))
  func `authorities are found by their hashes, as Debian has them, or in the bundle alone`()
    async throws
  {
    let (known, unknown) = (try StandIn("hub"), try StandIn("apns"))
    let scratch = try Scratch()
    let folder = scratch.folder.path
    for (name, authority, file) in [
      ("hashes", known, "one.pem"), ("bundle", known, "ca-certificates.crt"),
      ("others", unknown, "two.pem"),
    ] {
      _ = try scratch.makeFolder(name)
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: authority.certificates)))
      try scratch.drop(bytes, as: name + "/" + file)
      guard file.hasSuffix(".pem") else { continue }
      let rehash = try await Child.run("/usr/bin/openssl", ["rehash", folder + "/" + name])
      #expect(rehash.exitCode == 0, "\(rehash.errors)")
    }
    let server = try Child(
      "richpush",
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var"]
        + ["--assets", folder + "/assets", "--plugins", folder + "/plugins"]
        + ["--tls-certificate", known.folder + "/leaf.pem"]
        + ["--tls-key", known.folder + "/leaf.key"])
    var lines = server.lines.makeAsyncIterator()
    let line = await lines.next() ?? ""
    let address = String(try #require(line.split(separator: " ").last, "\(server.errors)"))
      .replacing("127.0.0.1", with: "localhost")
    func ask(with name: String) async throws -> Child.Result {
      try await Child.run(
        "/usr/bin/unshare",
        [
          "--mount", "/bin/sh", "-c", "mount --bind \"$0\" /etc/ssl/certs && exec \"$@\"",
          "\(folder)/\(name)", try Package.program("richpush").path, "health", "--server", address,
        ])
    }
    for name in ["hashes", "bundle"] {
      let answer = try await ask(with: name)
      #expect(answer.exitCode == 0, "\(name): \(answer)")
    }
    let refused = try await ask(with: "others")
    #expect(refused.exitCode == 69)
    #expect(
      refused.errors.contains("by an authority that this machine does not trust"), "\(refused)")
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0)
  }
}
