import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

/// When a plugin counts as replaced.
@Suite(.timeLimit(.minutes(1))) struct PluginVersionCacheTests {
  @Test func `a plugin that is replaced counts no more within the same second`() async throws {
    let scratch = try Scratch()
    func install(_ text: String) throws {
      try scratch.write(text, to: "plugins/coupon", mode: 0o755)
    }
    try install("#!/bin/sh\n")
    let host = try PluginHost(
      configuration: PluginConfiguration(
        folder: scratch.path + "/plugins", executables: nil, launcher: "/none",
        temporaryFolder: scratch.path))
    let versions = PluginVersionCache(host: host)
    let noon = Date(timeIntervalSince1970: 1_800_000_000)
    let plugin = try #require(host.plugin("coupon"))
    let look = versions.look(at: noon)
    #expect(versions.isCurrent(plugin, in: look))

    try install("#!/bin/sh\nexit 0\n")
    #expect(versions.isCurrent(plugin, in: look), "a look is not taken twice")
    try await eventually("the change is noticed") { versions.look(at: noon) != look }
    #expect(!versions.isCurrent(plugin, in: versions.look(at: noon)))
  }
}
