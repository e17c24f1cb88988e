import Foundation
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store
import TestSupport
import Waiting

@testable import Intake

/// A drop folder with a store and plugins, without a server.
struct IntakeFixture {
  let scratch: Scratch
  let store: Store
  let host: PluginHost
  let assets: AssetIntake
  let renderer: Renderer
  let log = LogLines()

  /// Accepts text that begins with `good`, with the text as a title; rejects the rest with a sentence.
  static let picky = """
    read -r first <"$RICH_ASSET_PATH"
    case $first in
      good*)
        case $RICH_VERB in
          validate) printf 'Content-Type: application/json\\n\\n{"title":"%s"}' "$first" ;;
          *) printf 'Content-Type: %s\\nX-Sendfile: asset\\n\\n' "$RICH_ASSET_TYPE" ;;
        esac ;;
      crash*) exit 3 ;;
      *) printf 'Status: 422\\nContent-Type: text/plain\\n\\nIt does not begin with good.' ;;
    esac
    """
  static let manifest = #"{"verbs":["validate","render"]}"#

  init(script: String = picky, manifest: String = manifest) throws {
    scratch = try Scratch()
    try scratch.makeFolder("assets/note")
    try scratch.installPlugin("note", manifest: manifest, script)
    store = try scratch.store()
    host = try scratch.pluginHost()
    let foreground = ForegroundLoad()
    let validator = PayloadValidator(host: host)
    assets = AssetIntake(
      store: store, folder: DropFolder(path: scratch.path + "/assets"), validator: validator,
      foreground: foreground, log: log.log)
    renderer = Renderer(
      store: store, host: host, queues: RenderQueues(concurrency: 4), foreground: foreground,
      counts: RenditionCounts())
  }

  /// The calls of the plugin so far.
  var calls: Int { host.status().map(\.calls.count).reduce(0, +) }

  func name(_ text: String) throws -> AssetName {
    guard let name = AssetName(text) else { throw Unmet("\(text) is no name") }
    return name
  }

  /// Writes a file and has it examined.
  @discardableResult
  func drop(_ text: String, as name: String = "a.txt") async throws -> AssetIntake.Examination {
    try scratch.write(text, to: "assets/note/" + name)
    return try await assets.examine("note", self.name(name), closed: true)
  }

  /// The catalogue's entry.
  func asset(_ name: String = "a.txt", of richType: String = "note") async throws -> AssetRecord? {
    try await store.assets.asset(richType, name)
  }

  /// Starts a preparer, which the caller stops.
  func startPreparer(clock: any SteadyClock = ContinuousClock()) -> Preparer {
    let preparer = Preparer(assets, renderer, clock: clock)
    preparer.start()
    return preparer
  }

  /// Runs a preparer until `a.txt` is in this state.
  func prepare(until state: AssetRecord.State) async throws {
    let clock = ManualClock()
    let preparer = startPreparer(clock: clock)
    defer { preparer.stop() }
    try await clock.withoutWaiting {
      try await eventually("it is \(state)") { try await asset()?.state == state }
    }
  }
}

/// Records the names that are to be examined again.
final class Retries: Sendable {
  private let lines = LogLines()
  var all: [String] { lines.all }
  var retry: FolderProcessor.Retry {
    let log = lines.record
    return { location, _ in log(location.richType + "/" + location.entry.shown) }
  }
}
