import Foundation
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store
import Synchronization
import TestSupport
import Testing
import Waiting

@testable import Intake

@Suite(.timeLimit(.minutes(1))) struct PreparerTests {
  @Test func `makes every rendition of an asset, and says that it is ready`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good one")
    let preparer = intake.startPreparer()
    defer { preparer.stop() }
    try await eventually("it is ready") { try await intake.asset()?.state == .ready }
    try await eventually("it is logged") { intake.log.all.last == "note/a.txt is ready" }
    let event = try await intake.store.events.events(after: 0, for: nil, limit: 9).last?.data
    #expect(event?.contains(#""state":"ready""#) == true)
    // An asset that is added later.
    try await intake.drop("good two", as: "b.txt")
    preparer.notify()
    try await eventually("the next") { try await intake.asset("b.txt")?.state == .ready }
  }

  @Test func `refuses an asset that no device can show, with the plugin's sentence`() async throws {
    let intake = try IntakeFixture(
      script: """
        case $RICH_VERB in
          validate) printf 'Content-Type: application/json\\n\\n{}' ;;
          *) printf 'Status: 422\\nContent-Type: text/plain\\n\\nIt is too large.' ;;
        esac
        """)
    try await intake.drop("good")
    try await intake.prepare(until: .refused)
    #expect(try await intake.asset()?.reason == "It is too large.")
    #expect(try await intake.asset()?.blob == nil)
  }

  @Test func `names the devices for which there is no rendition`() async throws {
    let intake = try IntakeFixture(
      script: """
        case $RICH_VERB-$RICH_PROFILE in
          validate-*) printf 'Content-Type: application/json\\n\\n{}' ;;
          render-watch) printf 'Status: 422\\nContent-Type: text/plain\\n\\nIt is too wide.' ;;
          *) printf 'Content-Type: text/plain\\n\\nok' ;;
        esac
        """)
    try await intake.drop("good")
    try await intake.prepare(until: .ready)
    #expect(try await intake.asset()?.reason == "There is no version for watches: It is too wide.")
  }

  @Test(arguments: [("render-*", 0), ("render-watch", 3)])
  func `gives up on a file after the plugin has failed four times`(
    _ failing: String, _ successes: Int
  ) async throws {
    let intake = try IntakeFixture(
      script: """
        case $RICH_VERB-$RICH_PROFILE in
          validate-*) printf 'Content-Type: application/json\\n\\n{}' ;;
          \(failing)) exit 3 ;;
          *) printf 'Content-Type: text/plain\\n\\nok' ;;
        esac
        """)
    try await intake.drop("good")
    try await intake.prepare(until: .refused)
    #expect(intake.calls == 1 + successes + 4, "one check, what succeeds once, four attempts")
  }

  @Test func `a busy plugin is called again as often as it takes`() async throws {
    let intake = try IntakeFixture(
      script: """
        case $RICH_VERB in
          validate) printf 'Content-Type: application/json\\n\\n{}'; exit ;;
        esac
        echo >>../../calls
        case $(wc -l <../../calls) in
          [1-5]) printf 'Status: 503\\nRetry-After: 0\\nContent-Type: text/plain\\n\\nLater.' ;;
          *) printf 'Content-Type: text/plain\\n\\nok' ;;
        esac
        """)
    try await intake.drop("good")
    try await intake.prepare(until: .ready)
  }

  @Test func `what a busy plugin leaves for later does not keep the rest waiting`() async throws {
    let intake = try IntakeFixture(
      script: """
        read -r first <"$RICH_ASSET_PATH"
        case $RICH_VERB-$first in
          validate-*) printf 'Content-Type: application/json\\n\\n{}' ;;
          *-later*) printf 'Status: 503\\nContent-Type: text/plain\\n\\nLater.' ;;
          *) printf 'Content-Type: text/plain\\n\\nok' ;;
        esac
        """)
    for number in 0..<100 { try await intake.drop("later \(number)", as: "\(number).txt") }
    try await intake.drop("now")
    // No time passes, so that all that failed is still to wait.
    let preparer = intake.startPreparer(clock: ManualClock())
    defer { preparer.stop() }
    try await eventually("it is ready") { try await intake.asset()?.state == .ready }
  }

  @Test func `an upload of what is ready is ready`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good")
    try await intake.prepare(until: .ready)
    try intake.scratch.write("good", to: "upload")
    let uploaded = try await intake.assets.put(
      intake.scratch.path + "/upload", "note", intake.name("a.txt"), mayPublish: false)
    #expect(uploaded.state == .ready)
  }

  @Test func `what one plugin renders for each user is not prepared`() async throws {
    let intake = try IntakeFixture(
      manifest: #"{"verbs":["validate","render"],"perUser":true}"#)
    #expect(try await intake.drop("good").asset.state == .ready)
  }
}

@Suite(.timeLimit(.minutes(1))) struct FolderCheckTests {
  @Test func `a dry run has the same result as a server, and writes nothing`() async throws {
    let intake = try IntakeFixture()
    for (name, text) in [
      ("note/a.txt", "good"), ("note/B.txt", "bad"), ("note/A.txt", "good"), ("stray", "x"),
      ("note/a.txt.notify.json", "{}"), ("outbox/note/c.txt", "good"), ("note/x.tmp", "good"),
    ] { try intake.scratch.write(text, to: "assets/" + name) }
    let check = try FolderCheck(
      folder: intake.scratch.path + "/assets", richType: nil,
      plugins: [intake.scratch.path + "/plugins"], programs: Scratch.programs)
    let assets = Mutex<[Asset]>([])
    try await check.run { asset in assets.withLock { $0.append(asset) } }
    let all = assets.withLock { $0 }
    func asset(_ name: String) -> Asset? { all.first { $0.name == name } }
    #expect(all.count == 6)
    #expect(asset("a.txt")?.state == .ready)
    #expect(asset("a.txt")?.advice?.contains("“A.txt” differs") == true)
    #expect(asset("B.txt")?.reason == "It does not begin with good.")
    #expect(asset("stray")?.reason?.contains("Move it into one") == true)
    #expect(asset("note/c.txt")?.reason == NotifySidecar.isDisabled)
    #expect(
      try await intake.store.assets.assets(
        AssetFilter(), order: nil, limit: 9, after: nil
      ).isEmpty)
    #expect(intake.scratch.names(in: "assets/note").count == 5)
  }
}
