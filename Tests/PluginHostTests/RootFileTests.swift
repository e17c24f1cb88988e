import Foundation
import Primitives
import Testing

@testable import PluginHost

/// Files that the launcher opens for a server that gave up root's rights.
@Suite(.enabled(if: getuid() == 0, "only root may give up its rights"), .timeLimit(.minutes(1)))
struct RootFileTests {
  private static let nobody: UInt32 = 65_534
  private let folder = NSTemporaryDirectory() + "root-file-tests-" + UUID().uuidString

  /// A folder as certbot's: root's alone, with a link to the file that is in use.
  private func makeFolder() throws {
    let files = FileManager.default
    for name in ["live/site", "archive", "others", "shared"] {
      try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    #expect(chmod(folder, 0o755) == 0 && chmod("\(folder)/archive", 0o700) == 0)
    #expect(chmod("\(folder)/live", 0o700) == 0)
    try write("first", to: "archive/key1.pem")
    try link("../../archive/key1.pem", at: "live/site/key.pem")
    // What somebody else could have put there.
    #expect(chown("\(folder)/others", Self.nobody, Self.nobody) == 0)
    try link("\(folder)/archive/key1.pem", at: "others/key.pem")
    #expect(chmod("\(folder)/shared", 0o775) == 0)
    try write("shared", to: "shared/key.pem")
    try write("foreign", to: "live/foreign.pem")
    #expect(chown("\(folder)/live/foreign.pem", Self.nobody, Self.nobody) == 0)
    #expect(mkfifo("\(folder)/live/pipe.pem", 0o600) == 0)
  }

  private func write(_ text: String, to name: String) throws {
    try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    #expect(chmod("\(folder)/\(name)", 0o600) == 0)
  }

  private func link(_ target: String, at name: String) throws {
    unlink("\(folder)/\(name)")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/\(name)", withDestinationPath: target)
  }

  @Test func `it opens those that it was told of, and that only root can have put there`()
    async throws
  {
    try makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var configuration = PluginConfiguration(
      folder: folder, executables: nil, launcher: PluginFixture.launcher, temporaryFolder: folder)
    configuration.user = (id: Self.nobody, group: Self.nobody)
    let names = [
      "live/site/key.pem", "others/key.pem", "shared/key.pem", "live/foreign.pem", "live/pipe.pem",
      "live/site", "live/none.pem",
    ]
    configuration.rootFiles = names.map { "\(folder)/\($0)" }
    let launcher = try PluginLauncher(configuration)
    defer { launcher.stop() }
    func text(_ index: Int) async throws -> String? {
      try await launcher.open(rootFile: index).map {
        String(decoding: try $0.readAll(limit: 99), as: UTF8.self)
      }
    }
    #expect(try await text(0) == "first")
    try write("second", to: "archive/key2.pem")
    try link("../../archive/key2.pem", at: "live/site/key.pem")
    #expect(try await text(0) == "second")
    for index in 1..<names.count { #expect(try await text(index) == nil, "\(names[index])") }
    #expect(try await text(names.count) == nil, "it was not told of it")
  }
}
