import Foundation
import Testing

@testable import PluginHost

/// Which plugin runs as which user.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PluginUsersTests {
  private let fixture: PluginFixture

  init() throws {
    fixture = try PluginFixture()
    try fixture.script("first", manifest: "{}", "exit 0")
    try fixture.script("second", "exit 0")
    // The fixture's folders must let others through, as a server's do.
    for folder in ["", "/plugins", "/plugins/first", "/tmp"] {
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: fixture.folder + folder)
    }
  }

  private func report(_ level: SandboxReport.Level = .standard, uids: Int = 1) throws
    -> SandboxReport
  {
    try #require(
      SandboxReport(
        level: level,
        greeting: "landlock 7 seccomp 1 bubblewrap 0 namespaces 1 uids \(uids) readable /usr"))
  }

  private func users(_ range: ClosedRange<Int>) -> PluginUsers {
    PluginUsers(range: range, scratchFolder: fixture.folder + "/tmp")
  }

  private func plugin(_ name: String) throws -> Plugin { try #require(fixture.host.plugin(name)) }

  @Test func `gives each rich type an ID of its own, always the same`() throws {
    let users = users(60_706...60_961)
    for _ in 0..<2 {
      #expect(users.user(of: try plugin("first"), try report()) == .dedicated(60_706))
      #expect(users.user(of: try plugin("second"), try report()) == .dedicated(60_707))
    }
  }

  @Test func `gives no ID that has an account, or when all are taken`() throws {
    #expect(!users(0...0).user(of: try plugin("first"), try report()).isDedicated)
    let one = users(60_706...60_706)
    #expect(one.user(of: try plugin("first"), try report()).isDedicated)
    #expect(
      one.user(of: try plugin("second"), try report())
        == .server(reason: "all user IDs of 60706-60706 are taken"))
  }

  @Test func `skips an ID that an account or a group has, and takes the next one`() throws {
    let hasAccount = { (id: Int) in getpwuid(uid_t(id)) != nil }
    let hasGroup = { (id: Int) in getgrgid(gid_t(id)) != nil }
    let ids = 1..<1000
    // Such as sudo's; accounts without a group of that number are in PluginUserSystemTests.
    let group = try #require(ids.first { hasGroup($0) && !hasAccount($0) })
    let account = try #require(ids.first { hasAccount($0) })
    for taken in [group, account] {
      let next = try #require((taken...60_000).first { !hasGroup($0) && !hasAccount($0) })
      #expect(
        users(taken...next).user(of: try plugin("first"), try report()) == .dedicated(next))
      #expect(
        users(taken...(next - 1)).user(of: try plugin("first"), try report())
          == .server(reason: "all user IDs of \(taken)-\(next - 1) are taken"))
    }
  }

  @Test func `runs plugins as the server where users cannot be changed`() throws {
    let users = users(60_706...60_961)
    #expect(!users.user(of: try plugin("first"), try report(uids: 0)).isDedicated)
    #expect(!users.user(of: try plugin("first"), try report(.off)).isDedicated)
  }

  @Test(arguments: [
    ("/plugins/first/first", 0o750), ("/plugins/first/first", 0o754),
    ("/plugins/first/plugin.json", 0o640), ("/plugins/first", 0o754), ("/plugins", 0o750),
    ("/tmp", 0o754), ("", 0o750),
  ])
  func `runs a plugin as the server if others may not read it or reach its folder`(
    path: String, mode: Int
  ) throws {
    let plugin = try plugin("first")
    try FileManager.default.setAttributes(
      [.posixPermissions: mode], ofItemAtPath: fixture.folder + path)
    let user = users(60_706...60_961).user(of: plugin, try report())
    guard case .server(let reason) = user else {
      Issue.record("\(user)")
      return
    }
    #expect(reason.contains("may not enter or read"))
  }
}
