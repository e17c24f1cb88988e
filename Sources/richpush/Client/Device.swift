import Media
import Foundation
import Origin
import RichPushClient

/// A phone at work: it registers, listens, fetches, and keeps what came in a folder.
struct Device {
  let client: RichPushClient
  let folder: URL
  let options: MediaOptions
  let viewer: Viewer?
  private var state: DeviceState

  init(client: RichPushClient, folder: URL, options: MediaOptions, viewer: Viewer?) throws {
    self.client = client
    self.folder = folder
    self.options = options
    self.viewer = viewer
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    state = DeviceState(folder: folder)
  }

  /// Registers and handles pushes, for ever or until so many have come.
  mutating func run(count: Int?) async throws {
    state.register(as: try await client.register(handle: state.handle))
    try state.save(to: folder)
    let greeting =
      "\(client.user) listens at \(client.endpoint), media goes to \(folder.relativePath)"
    let (start, folder) = (state, folder)
    let events = client.events(after: state.lastEvent) { id in
      try? start.save(to: folder, resumingAfter: id)
      Terminal.say(greeting)
    }
    var left = count ?? Int.max
    for try await event in events {
      await handle(event.push)
      state.lastEvent = event.id
      try state.save(to: folder)
      left -= 1
      if left == 0 { return }
    }
  }

  private func handle(_ push: PushEvent.Push) async {
    guard let id = push.id else { return Terminal.say("alert \"\(push.alert ?? "")\"") }
    let title = "#\(id) \(push.richType ?? "?") \"\(push.message ?? "")\""
    let clock = ContinuousClock()
    let start = clock.now
    do {
      let received = ReceivedMedia(try await fetch(id))
      let file = folder.appending(path: received.fileName(id: id))
      try received.media.bytes.write(to: file, options: .atomic)
      let time = Int((clock.now - start) / .milliseconds(1))
      Terminal.say(
        "\(title): \(received.summary), \(time) ms from push to \(received.noun), \(file.relativePath)"
      )
      viewer?.show(file)
    } catch {
      Terminal.say("\(title): failed: \(error.logDescription)")
    }
  }

  /// A phone's link breaks often: what waiting can mend is tried again, three times.
  private func fetch(_ id: Int) async throws -> Media {
    for seconds in [0.25, 1, 4] {
      do {
        return try await client.media(id, options: options)
      } catch let error as RichPushError where [.unreachable, .unavailable].contains(error.code) {
        try await Task.sleep(for: .seconds(max(seconds, error.retryAfter ?? 0)))
      }
    }
    return try await client.media(id, options: options)
  }
}
