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
    try await serve(scratch, known.folder + "/leaf.pem", known.folder + "/leaf.key") { address in
      for name in ["hashes", "bundle"] {
        let answer = try await health(of: address, with: "\(folder)/\(name)")
        #expect(answer.exitCode == 0, "\(name): \(answer)")
      }
      let refused = try await health(of: address, with: folder + "/others")
      #expect(refused.exitCode == 69)
      #expect(
        refused.errors.contains("by an authority that this machine does not trust"), "\(refused)")
    }
    let expired = try await TemporaryCertificate(days: -90 ... -1)
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: expired.path)))
    try scratch.drop(bytes, as: "bundle/ca-certificates.crt")
    try await serve(scratch, expired.path, expired.key) { address in
      let refused = try await health(of: address, with: folder + "/bundle")
      #expect(refused.exitCode == 69)
      #expect(refused.errors.contains("its certificate has expired"), "\(refused)")
    }
  }

  /// Runs a server of HTTPS for as long as `body` takes, which is given its address.
  private func serve(
    _ scratch: Scratch, _ certificate: String, _ key: String, _ body: (String) async throws -> Void
  ) async throws {
    let folder = scratch.folder.path
    let server = try Child(
      "richpush",
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var"]
        + ["--assets", folder + "/assets", "--plugins", folder + "/plugins"]
        + ["--tls-certificate", certificate, "--tls-key", key])
    var lines = server.lines.makeAsyncIterator()
    let line = await lines.next() ?? ""
    let address = try #require(line.split(separator: " ").last, "\(server.errors)")
    try await body(String(address).replacing("127.0.0.1", with: "localhost"))
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0)
  }

  /// What a client says of a server when this folder is in the place of `/etc/ssl/certs`.
  private func health(of address: String, with folder: String) async throws -> Child.Result {
    try await Child.run(
      "/usr/bin/unshare",
      [
        "--mount", "/bin/sh", "-c", "mount --bind \"$0\" /etc/ssl/certs && exec \"$@\"", folder,
        try Package.program("richpush").path, "health", "--server", address,
      ])
  }
}
