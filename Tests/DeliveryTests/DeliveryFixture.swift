import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Waiting

@testable import Delivery

/// What publishes, with a store, a drop folder and plugins, without a server.
///
/// The users are `shop`, a publisher, and `alice` and `bob`, devices; the store's time is `clock`.
struct DeliveryFixture {
  let scratch: Scratch
  let store: Store
  let host: PluginHost
  let assets: AssetIntake
  let renderer: Renderer
  let counts = RenditionCounts()
  let links: MediaLinks
  let publisher: Publisher
  let lanes: PlatformLanes
  let payloads: PushPayloads
  let log = LogLines()
  let clock: ManualClock

  /// Renders every payload as text, but refuses what begins with `bad`.
  static let note = """
    case $RICH_PAYLOAD in
      bad*) printf 'Status: 422\\nContent-Type: text/plain\\n\\nIt is bad.' ;;
      *) printf 'Content-Type: text/plain\\n\\n%s' "$RICH_PAYLOAD" ;;
    esac
    """

  init(
    push: String = "embedded,apns", script: String = note, manifest: String = "{}",
    admitsGuests: Bool = false, clock: ManualClock = ManualClock(),
    formats: [String: PayloadFormat] = [:], approveAbove: Int? = nil
  ) async throws {
    self.clock = clock
    scratch = try Scratch()
    try scratch.makeFolder("assets/note")
    try scratch.installPlugin("note", manifest: manifest, script)
    // Takes files only, and gives them as they are.
    try scratch.installPlugin(
      "file", manifest: #"{"accepts":["application/octet-stream","image/*"]}"#,
      "printf 'Content-Type: image/png\\nX-Sendfile: asset\\n\\n'")
    store = try scratch.store(now: { clock.date })
    host = try scratch.pluginHost()
    let (foreground, validator) = (ForegroundLoad(), PayloadValidator(host: host))
    assets = AssetIntake(
      store: store, folder: DropFolder(path: scratch.path + "/assets"), validator: validator,
      foreground: foreground, log: log.log)
    renderer = Renderer(
      store: store, host: host, queues: RenderQueues(concurrency: 4), foreground: foreground,
      counts: counts)
    links = try await MediaLinks(store: store, base: "https://push.example")
    lanes = PlatformLanes(services: try PlatformLanes(push).all, formats: formats)
    payloads = PushPayloads(store: store, links: links)
    publisher = Publisher(
      assets: assets, renderer: renderer,
      announcement: Announcement(
        store: store, lanes: lanes, links: links, admitsGuests: admitsGuests),
      approveAbove: approveAbove)
    for (name, role) in [("shop", Role.publisher), ("alice", .device), ("bob", .device)] {
      try await store.accounts.addUser(name, hash: "", role: role)
    }
  }

  func id(_ user: String) async throws -> UserID {
    guard let id = try await store.accounts.user(named: user)?.id else { throw Unmet("no \(user)") }
    return id
  }

  /// Registers a device and returns its ID.
  @discardableResult
  func register(
    _ handle: String, of user: String, platform: String = "apns", tags: [String] = [],
    language: String? = nil
  ) async throws -> String {
    let device = try await store.accounts.registration(forHandle: handle, user: id(user))
    var change = RegistrationChange(platform: platform, handle: handle)
    (change.tags, change.language) = (["username:" + user] + tags, language)
    _ = try await store.accounts.putRegistration(device, user: id(user), change)
    return device
  }

  func draft(
    _ members: String = "", to: String = #"["username:alice"]"#, message: String = "Hi"
  ) throws -> Draft {
    let json =
      #"{"message":"\#(message)","richType":"note","payload":"hello","to":\#(to)\#(members)}"#
    return try Draft(Array(json.utf8), allowing: [], now: clock.date)
  }

  @discardableResult
  func publish(
    _ draft: Draft, request: String = "", asset: AssetRecord? = nil
  ) async throws -> Publisher.Published {
    try await publisher.publish(
      draft, sender: id("shop"), request: Array(request.utf8), using: .all, asset: asset)
  }

  func pushEvents(for user: String) async throws -> [String] {
    try await EventFeed.pushes(store, payloads).events(
      for: id(user), role: .device, after: 0, limit: 100
    ).map(\.data)
  }

  /// The pushes that the lane would send now.
  func lease(_ lane: String = "apns") async throws -> [PushJob] {
    try await StoredPushQueue(store: store, payloads: payloads).settleAndLease(
      [], lane: PushLane(lane), limit: 100, now: clock.date,
      until: clock.date + 100
    ).jobs
  }

  /// The error of a publication that fails.
  func refusal(_ draft: Draft, asset: AssetRecord? = nil) async throws -> ServiceError {
    do {
      try await publish(draft, asset: asset)
      throw Unmet("it was published")
    } catch let error as ServiceError { return error }
  }
}

extension PushLane {
  /// A lane of a service that there is.
  init(_ name: String) {
    let service = PushServices.service(ofLane: name)
    self.init(name: name, settings: "", traits: service?.traits ?? .withoutBudget) { message in
      (service ?? APNsProvider.self).payload(of: message)
    }
  }
}

extension PushTraits {
  /// Those of Apple's service, for a stand-in that takes any number of silent pushes.
  static let withoutBudget = {
    var traits = APNsProvider.traits
    traits.limitsSilentPushes = false
    return traits
  }()
}

extension FeedEvent {
  /// What is sent to who prefers no language.
  var data: String { data(for: []) }
}
