import Foundation
import PluginTester
import PluginHost
import Testing

/// Each check of `richpush plugin check` finds the fault that it is named for.
@Suite(.timeLimit(.minutes(2))) struct PluginCheckTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// A plugin that a check warns of.
  struct BadPlugin: Sendable {
    var script = "printf 'Content-Type: text/plain\\n\\nfine'"
    var manifest: String?
    var interpreter = "/bin/sh"
    var mode = 0o755
    var sample: String? = "A card"
    var name = "bad"
    var isAboutFile = false
  }

  /// Fails unless the words in front hold.
  private static func only(_ condition: String, file: Bool = false) -> BadPlugin {
    BadPlugin(
      script: "\(condition) || exit 1; \(BadPlugin().script)", isAboutFile: file)
  }

  private static func only(_ condition: String, manifest: String) -> BadPlugin {
    var plugin = only(condition)
    plugin.manifest = manifest
    return plugin
  }

  static let plugins: [String: BadPlugin] = [
    "has a valid name": BadPlugin(name: "Bad"),
    "can be run": BadPlugin(mode: 0o644),
    "can be changed by its owner only": BadPlugin(mode: 0o777),
    "declares what it accepts and produces": BadPlugin(manifest: "{}"),
    "has a sample": BadPlugin(sample: nil),
    "answers every sample": BadPlugin(script: "exit 3"),
    "writes nothing before its header": BadPlugin(script: "echo started; echo; echo"),
    "declares the type of its content": BadPlugin(
      script: "printf 'Content-Type: application/json\\n\\n{'"),
    "gives the same answer twice": BadPlugin(
      script: "printf 'Content-Type: text/plain\\n\\n%s' $$"),
    "is silent on standard error when it succeeds": BadPlugin(
      script: "echo careful >&2; \(BadPlugin().script)"),
    "finishes in half its time limit": only("sleep 0.6", manifest: #"{"limits":{"seconds":1}}"#),
    "returns facts from validate": BadPlugin(manifest: #"{"verbs":["validate"]}"#),
    "describes itself as in its manifest": BadPlugin(manifest: #"{"verbs":["describe"]}"#),
    "answers for any requested size": only("[ -z \"$RICH_WIDTH\" ]"),
    "answers or refuses an empty payload": only("[ \"$RICH_PAYLOAD\" ]"),
    "gives a reason when it refuses": BadPlugin(script: "printf 'Status: 422\\n\\n'"),
    "survives a payload of 100 kB": only("[ ${#RICH_PAYLOAD} -lt 9999 ]"),
    "treats a payload as text and not as code": BadPlugin(
      script: "printf 'Content-Type: application/json\\n\\n\"%s\"' \"$RICH_PAYLOAD\""),
    "survives a message in any language": only("[ \"$RICH_MESSAGE\" ]"),
    "survives odd values of its own query names": only(
      "[ \"$QUERY_STRING\" != page=-1 ]", manifest: #"{"query":["page"]}"#),
    "survives a request body that it does not read": only(
      "[ \"$CONTENT_LENGTH\" -lt 9999 ]", manifest: #"{"verbs":["validate"]}"#),
    "survives a truncated file": only("[ $RICH_ASSET_SIZE != 3 ]", file: true),
    "survives an empty file": only("[ -s $RICH_ASSET_PATH ]", file: true),
    "survives a damaged file": only(
      "[ $RICH_ASSET_SIZE != 6 ] || grep -q '^A card' $RICH_ASSET_PATH", file: true),
    "survives random bytes after a valid signature": only(
      "[ $RICH_ASSET_SIZE -lt 4096 ]", file: true),
    "keeps concurrent calls apart": only("mkdir \"$0.d\" && sleep 0.3 && rmdir \"$0.d\""),
    "still works after a cancelled call": only(
      "mkdir \"$0.d\" && sleep 1 && rmdir \"$0.d\""),
    "has samples that its form takes": BadPlugin(manifest: #"{"form":[{"name":"code"}]}"#),
    "answers or refuses whatever its form takes": only(
      "[ ${#RICH_PAYLOAD} -lt 99 ]", manifest: #"{"form":[{"name":"code"}]}"#),
    "answers with and without a user": only(
      "[ \"$REMOTE_USER\" ]", manifest: #"{"perUser":true}"#),
    "keeps its worker for the next request": BadPlugin(
      script: """
        use FCGI; my $request = FCGI::Request(); $request->Accept();
        print "Content-Type: text/plain\\n\\nfine"; $request->Finish();
        """, manifest: #"{"mode":"fastcgi"}"#, interpreter: "/usr/bin/perl"),
  ]

  @Test(arguments: Check.all.map(\.name))
  func `finds the plugin that it warns of, and none where all is well`(name: String) async throws {
    let check = try #require(Check.all.first { $0.name == name })
    let bad = try #require(Self.plugins[name], "no plugin shows what \(name) is about")
    guard case .fails = try await finding(check, of: bad) else {
      Issue.record("\(name) does not fail")
      return
    }
    var good = BadPlugin(name: "good")
    good.isAboutFile = bad.isAboutFile
    if case .fails(let fault) = try await finding(check, of: good) { Issue.record("\(fault)") }
  }

  private func finding(_ check: Check, of plugin: BadPlugin) async throws -> Check.Finding {
    let path = plugin.manifest == nil ? plugin.name : "\(plugin.name)/\(plugin.name)"
    let file = try scratch.drop(
      Array("#!\(plugin.interpreter)\n\(plugin.script)\n".utf8), as: path, executable: true)
    try FileManager.default.setAttributes(
      [.posixPermissions: plugin.mode], ofItemAtPath: file.path)
    if let manifest = plugin.manifest {
      try scratch.drop(Array(manifest.utf8), as: "\(plugin.name)/plugin.json")
    }
    let tester = try PluginTester(
      scratch.folder.appending(path: plugin.name).path,
      programs: Package.program("richpush-exec").deletingLastPathComponent().path, sandbox: .off)
    var samples = plugin.sample.map { [Sample(payload: $0)] } ?? []
    if plugin.isAboutFile {
      let asset = try scratch.drop(Array((plugin.sample ?? "").utf8), as: "asset.txt")
      samples = Sample(file: asset).map { [$0] } ?? []
    }
    return await check.finding(tester, samples)
  }
}
