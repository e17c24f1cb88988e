import Foundation
import PluginHost
import Testing

@testable import Origin

/// When a plugin counts as replaced.
@Suite struct PluginGlanceTests {
  @Test(.timeLimit(.minutes(1)))
  func `a plugin that is replaced counts no more within the same second`() async throws {
    let scratch = try Scratch()
    let file = scratch.path + "/plugins/coupon"
    func install(_ text: String) throws {
      try scratch.write(text, to: "plugins/coupon")
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
    }
    try install("#!/bin/sh\n")
    let host = try PluginHost(
      configuration: PluginConfiguration(
        folder: scratch.path + "/plugins", binaries: nil, launcher: "/none",
        temporaryFolder: scratch.path))
    let glance = PluginGlance(host: host)
    let noon = Date(timeIntervalSince1970: 1_800_000_000)
    let plugin = try #require(host.plugin("coupon"))
    let look = glance.look(at: noon)
    #expect(glance.isCurrent(plugin, in: look))

    try install("#!/bin/sh\nexit 0\n")
    #expect(glance.isCurrent(plugin, in: look), "a look is not taken twice")
    while glance.look(at: noon) == look { try await Task.sleep(for: .milliseconds(1)) }
    #expect(!glance.isCurrent(plugin, in: glance.look(at: noon)))
  }
}
