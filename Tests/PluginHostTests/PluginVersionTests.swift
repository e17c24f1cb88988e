import Foundation
import Testing
import Waiting

@testable import PluginHost

/// When a plugin counts as replaced for those who may not wait for a disk.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PluginVersionTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  private func install(_ text: String) throws { try fixture.write("plugins/coupon", text) }

  /// The plugin once all changes that were made are known.
  private func current() async throws -> Plugin {
    var found: Plugin?
    try await eventually("it is current") {
      found = fixture.host.plugin("coupon")
      return found.map(fixture.host.isCurrent) ?? false
    }
    return try #require(found)
  }

  @Test func `a replaced plugin is not current any more`() async throws {
    try install("#!/bin/sh\n")
    let first = try await current()
    try install("#!/bin/sh\nexit 0\n")
    try await eventually("the change is noticed") { !fixture.host.isCurrent(first) }
    let second = try await current()
    #expect(second.identity != first.identity)
    #expect(!fixture.host.isCurrent(first))
  }

  @Test func `a plugin with a problem is current, too`() async throws {
    try install("#!/none/such\n")
    #expect(try await current().problem != nil)
  }

  @Test func `a change that nothing reports is noticed without a lookup`() async throws {
    try install("#!/bin/sh\n")
    let folder = PluginFolder(
      PluginConfiguration(
        folder: "\(fixture.folder)/plugins", executables: nil, launcher: "/none",
        temporaryFolder: fixture.folder))
    let first = try #require(folder.plugin("coupon"))
    folder.startChecking()
    // Nobody reads the queue of inotify.
    try install("#!/bin/sh\nexit 0\n")
    try await eventually("the stamps are compared") { !folder.isCurrent(first) }
    let second = try #require(folder.plugin("coupon"))
    #expect(second.identity != first.identity)
    #expect(folder.isCurrent(second))
  }
}
