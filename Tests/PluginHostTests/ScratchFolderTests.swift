import Foundation
import Testing
import Waiting

@testable import PluginHost

@Suite(.serialized, .timeLimit(.minutes(2))) struct ScratchFolderTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  @Test func `removes a folder of any shape`() async throws {
    try fixture.script(
      "shape",
      """
      cd $TMPDIR
      mkdir -p a/b/c/d; echo x > a/b/c/d/file; ln -s /etc/passwd a/link; ln -s ../.. a/up
      mkfifo pipe; touch "$(printf 'no\\377text')"; mkdir "$(printf 'dir\\376')"
      touch "$(printf 'dir\\376')/inner"
      i=0; while [ $i -lt 300 ]; do mkdir d; cd d; i=$((i+1)); done
      cd $TMPDIR; mkdir closed; touch closed/file; chmod 000 closed a/b a .
      echo 'Content-Type: text/plain'; echo; echo done
      """)
    #expect(try await fixture.text("shape") == "done\n")
    #expect(fixture.leftovers.isEmpty)
  }

  @Test func `gives a file the plugin wrote, and keeps it as long as the reply`() async throws {
    try fixture.script(
      "file",
      """
      head -c 3000000 /dev/zero > $TMPDIR/out.bin
      echo 'Content-Type: image/png'; echo "X-Sendfile: $TMPDIR/out.bin"; echo
      """)
    do {
      let reply = try await fixture.host.respond(to: PluginCall(verb: .render, richType: "file"))
      guard case .file(let file) = reply.body else { throw PluginError(.failed, "bytes") }
      #expect(file.size == 3_000_000)
      #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)).count == 3_000_000)
      #expect(fixture.leftovers.count == 1)
    }
    #expect(fixture.leftovers.isEmpty)
  }

  @Test(arguments: [
    "ln -s /etc/passwd $TMPDIR/f", "mkdir $TMPDIR/f", "mkfifo $TMPDIR/f", "true",
    "ln -s $TMPDIR/g $TMPDIR/f; echo hi > $TMPDIR/g",
  ])
  func `sends only a regular file that is really there`(made: String) async throws {
    try fixture.script(
      "file", "\(made); echo 'Content-Type: image/png'; echo \"X-Sendfile: $TMPDIR/f\"; echo")
    #expect(await fixture.code("file") == .failed)
    #expect(fixture.leftovers.isEmpty)
  }

  @Test func `no folder is left of a process that could not be started`() async throws {
    try fixture.script("any", "exit 0")
    fixture.host.environment.launcher.stop()
    for _ in 0..<3 { #expect(await fixture.code("any") == .busy) }
    try await eventually("they are removed") {
      try FileManager.default.contentsOfDirectory(atPath: "\(fixture.folder)/tmp").isEmpty
    }
  }

  @Test func `nothing is left of an asset that cannot be copied`() throws {
    let folder = try fixture.processFolder()
    var asset = try fixture.asset("x")
    asset.path = fixture.folder  // can be opened, and neither linked nor read
    #expect(throws: PluginError.self) { _ = try AssetLink(asset, in: folder) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.assets).isEmpty)
  }

  @Test func `does not send a neighbour's file`() async throws {
    let secret = try fixture.write("tmp/secret", "x", mode: 0o600)
    try fixture.script(
      "file", "echo 'Content-Type: image/png'; echo \"X-Sendfile: $TMPDIR/../secret\"; echo")
    #expect(await fixture.code("file") == .failed)
    try FileManager.default.removeItem(atPath: secret)
  }
}
