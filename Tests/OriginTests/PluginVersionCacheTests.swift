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
import Waiting

@testable import Origin

/// When a plugin counts as replaced.
@Suite(.timeLimit(.minutes(1))) struct PluginVersionCacheTests {
  @Test func `a replaced plugin is noticed within the same second`() async throws {
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
    let noon = 1_800_000_000
    let plugin = try #require(host.plugin("coupon"))
    let epoch = versions.epoch(at: noon)
    #expect(versions.isCurrent(plugin, in: epoch))

    try install("#!/bin/sh\nexit 0\n")
    #expect(versions.isCurrent(plugin, in: epoch), "checked once per epoch")
    try await eventually("the change is noticed") { versions.epoch(at: noon) != epoch }
    #expect(!versions.isCurrent(plugin, in: versions.epoch(at: noon)))
  }
}
