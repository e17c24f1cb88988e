import Foundation
import Testing

/// Signing in at a provider by others, oidc-provider-mock of PyPI, in Debian's Chromium:
/// SingleSignOn/single_sign_on.py.
@Suite(.timeLimit(.minutes(10))) struct OpenIDConnectSystemTests {
  @Test func `people sign in to console and app at a provider, and out again`() async throws {
    let scratch = try Scratch()
    for name in ["img", "sound", "url"] {
      let path = "plugins/\(name)/plugin.json"
      try scratch.drop(Package.bytes(path), as: path)
    }
    let folder = scratch.folder.path + "/server"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let result = try await Tool.run(
      "python",
      [
        Package.root.appending(path: "Tests/EndToEndTests/SingleSignOn/single_sign_on.py").path,
        try Package.program("richpush").path, folder, scratch.folder.path + "/plugins",
      ],
      environment: ["HOME": scratch.folder.path])
    let output = result.output.joined(separator: "\n")
    #expect(result.exitCode == 0, "\(output)\n\(result.errors)")
  }
}
