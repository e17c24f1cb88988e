import FoundationEssentials
import Media
import MediaTypes
import Origin
import RichPushAPI
import RichPushClient
import Synchronization

/// A simulated phone: registers, listens, fetches, and saves the media in a folder.
struct Device {
  private var client: RichPushClient
  let folder: URL
  let options: MediaOptions
  let viewer: Viewer?
  /// The ID of the button that is pressed.
  var button: String?
  /// What is answered where that button asks for a text.
  var reply: String?
  private var state: DeviceState

  init(client: RichPushClient, folder: URL, options: MediaOptions, viewer: Viewer?) throws {
    self.client = client
    self.folder = folder
    self.options = options
    self.viewer = viewer
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    state = DeviceState(folder: folder)
  }

  /// Registers and handles pushes: `count` of them, or until the program ends.
  mutating func run(count: Int?) async throws {
    let id = try await client.register(handle: state.handle)
    client.device = id
    state.setRegistration(id)
    try state.save(to: folder)
    let greeting =
      "\(client.user) listens at \(client.endpoint), media goes to \(folder.relativePath)"
    let (start, folder) = (state, folder)
    let isGreeted = Atomic(false)
    let events = client.events(after: state.lastEvent) { id in
      try? start.saveStart(id, to: folder)
      // It is called again after each reconnection.
      if !isGreeted.exchange(true, ordering: .relaxed) { Terminal.print("\(greeting)") }
    }
    var remaining = count ?? Int.max
    for try await event in events {
      await handle(event.push, by: client)
      state.lastEvent = event.id
      try state.save(to: folder)
      remaining -= 1
      if remaining == 0 { return }
    }
  }

  /// Registers a Web Push subscription and handles its pushes, like ``run(count:)``.
  mutating func runWebPush(count: Int?) async throws {
    let receiver = try WebPushReceiver(resuming: state.receiver)
    let id = state.subscription ?? "device-" + UUID().uuidString.lowercased()
    try await client.register(
      id, endpoint: receiver.endpoint, p256dh: receiver.keys.p256dh, auth: receiver.keys.auth)
    (state.subscription, state.receiver) = (id, receiver.state)
    try state.save(to: folder)
    Terminal.print(
      "\(client.user) receives at \(receiver.endpoint), media goes to \(folder.relativePath)")
    var device = client
    device.device = id
    var remaining = count ?? Int.max
    for await text in receiver.pushes {
      guard let push = PushEvent.Push(text: text) else { continue }
      await handle(push, by: device)
      remaining -= 1
      if remaining == 0 { break }
    }
    await receiver.stop()
  }

  private func handle(_ push: PushEvent.Push, by client: RichPushClient) async {
    guard let id = push.id else { return Terminal.print("alert \"\(push.message.summary)\"") }
    let clock = ContinuousClock()
    let start = clock.now
    let type = push.richType.map { "\($0) " } ?? ""
    // A service extension does the same for a private notification.
    let message = push.hasTexts ? nil : try? await client.details(id).message
    let title: TerminalText = "#\(id) \(type)\"\((message ?? push.message).summary)\""
    do {
      let received = ReceivedMedia(try await fetch(id, by: client))
      let file = folder.appending(path: received.fileName(id: id))
      try received.media.bytes.write(to: file, options: .atomic)
      let time = Int((clock.now - start) / .milliseconds(1))
      Terminal.print(
        "\(title): \(received.summary), \(time) ms from push to \(received.noun), \(file.relativePath)"
      )
      if push.richType != nil { viewer?.show(file) }
    } catch {
      Terminal.print("\(title): failed: \(error.logDescription)")
    }
    let shown = message ?? push.message
    for line in shown.furtherLines { Terminal.print("  \(line)") }
    await report(.displayed, of: id, by: client)
    guard let action = shown.actions?.first(where: { $0.id == button }) else { return }
    if action.input == nil {
      await report(.action(action.id), of: id, by: client)
    } else if let reply {
      await report(.reply(reply, to: action.id), of: id, by: client)
    }
  }

  private func report(_ interaction: Interaction, of id: Int, by client: RichPushClient) async {
    do { try await client.report(interaction, of: id) } catch {
      Terminal.print("  \(interaction.event.rawValue) was not reported: \(error.logDescription)")
    }
  }

  /// Fetches the media, with three retries after temporary errors.
  private func fetch(_ id: Int, by client: RichPushClient) async throws -> Media {
    for seconds in [0.25, 1, 4] {
      do {
        return try await client.media(id, options: options)
      } catch let error as RichPushError
        where [.unreachable, .unavailable, .failed].contains(error.code)
      {
        try await Task.sleep(for: .seconds(max(seconds, error.retryAfter ?? 0)))
      }
    }
    return try await client.media(id, options: options)
  }
}

/// The state of a simulated phone between two starts, in a hidden file of its folder.
struct DeviceState: Codable {
  /// The push token: 64 hexadecimal digits, like Apple's.
  var handle: String
  /// The ID of the registration for the handle.
  var registration: String?
  /// The ID of the last handled push, after which the next start resumes.
  var lastEvent: String?
  /// The ID of the registration of the Web Push subscription.
  var subscription: String?
  /// The port and the keys of the subscription's receiver.
  var receiver: String?

  private static let fileName = ".device.json"

  /// Reads the state from a folder; a new phone if there is none.
  init(folder: URL) {
    if let data = try? Data(contentsOf: folder.appending(path: Self.fileName)),
      let state = try? JSONDecoder().decode(DeviceState.self, from: data)
    {
      self = state
    } else {
      handle = String((0..<64).map { _ in "0123456789ABCDEF".randomElement() ?? "0" })
    }
  }

  /// Sets the registration's ID; a different one belongs to another server, with other events.
  mutating func setRegistration(_ id: String) {
    if id != registration { lastEvent = nil }
    registration = id
  }

  /// Saves the position at which a phone starts to listen, unless a push was already handled.
  func saveStart(_ id: String, to folder: URL) throws {
    guard lastEvent == nil, DeviceState(folder: folder).lastEvent == nil else { return }
    var state = self
    state.lastEvent = id
    try state.save(to: folder)
  }

  /// Saves the state atomically.
  func save(to folder: URL) throws {
    let file = folder.appending(path: Self.fileName)
    try Data(JSONCoding.encode(self)).write(to: file, options: .atomic)
  }
}

/// Fetched media, and what its bytes say about it.
struct ReceivedMedia {
  let media: Media
  private let bytes: [UInt8]
  private let type: MediaType

  init(_ media: Media) {
    self.media = media
    bytes = [UInt8](media.bytes)
    type = MediaType.sniff(bytes)
  }

  /// The file name for the notification's media.
  func fileName(id: Int) -> String {
    isCard ? "\(id).json" : "\(id).\(type.fileExtension)"
  }

  /// Type, dimensions and size: `image/png, 320x200, 18.4 kB`.
  var summary: String {
    ([media.contentType] + facts + [Table.size(of: bytes.count)]).joined(separator: ", ")
  }

  /// What it is, in one word.
  var noun: String {
    switch type.family {
    case "image": "picture"
    case "audio": "sound"
    default: isCard ? "card" : type.value == "text/plain" ? "text" : "content"
    }
  }

  private var isCard: Bool { media.contentType.hasPrefix("application/json") }

  private var facts: [String] {
    if let picture = PixelSize.read(bytes) { return ["\(picture)"] }
    if type.family == "audio" || type.family == "video", let sound = try? Sound.read(bytes) {
      return sound.duration.map { ["\(Table.decimal($0)) s"] } ?? []
    }
    if isCard, let card = JSONValue(bytes) {
      return [card.title.text, card.url.text].compactMap { $0 }
    }
    return []
  }
}

extension NotificationMessage {
  /// What ``summary`` has not: the subtitle, the link, and each button with what it does.
  fileprivate var furtherLines: [String] {
    [subtitle.map { "\"\($0)\"" }, link.map { "opens \($0)" }].compactMap(\.self)
      + (actions ?? []).map { action in
        let does =
          if let link = action.link {
            ": opens \(link)"
          } else if let input = action.input {
            ": asks \"\(input)\""
          } else {
            action.dismiss == true ? ": closes it" : ""
          }
        return "[\(action.label)]\(does)"
      }
  }
}
