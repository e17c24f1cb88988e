import Foundation
import PluginHost
import RichPushAPI
import Store
import TestSupport
import Waiting

@testable import Media

/// A store, plugins and what renders, without a server.
struct MediaFixture {
  let scratch: Scratch
  let store: Store
  let host: PluginHost
  let renderer: Renderer
  let queues = RenderQueues(concurrency: 4)
  let counts = RenditionCounts()
  let foreground = ForegroundLoad()

  /// Installs plugins by `install`.
  init(_ install: (Scratch) throws -> Void) throws {
    scratch = try Scratch()
    try install(scratch)
    store = try scratch.store()
    host = try scratch.pluginHost()
    renderer = Renderer(
      store: store, host: host, queues: queues, foreground: foreground,
      counts: counts)
  }

  /// A request for a payload; `id` is the notification's.
  func request(
    _ payload: String = "p", of richType: String = "note", options: RenditionOptions = .none,
    id: Int? = nil, pinned: PinnedAsset? = nil, user: String = "", owner: UserID? = nil
  ) throws -> RenditionRequest {
    guard let plugin = host.plugin(richType) else { throw Unmet("no \(richType)") }
    return RenditionRequest(
      source: RenditionSource(
        richType: richType, message: "m", payload: payload, id: id, pinned: pinned),
      options: options, plugin: plugin, user: user, owner: owner)
  }

  /// A file in the store.
  func pin(_ text: String, type: String = "text/plain") async throws -> PinnedAsset {
    try scratch.write(text, to: "original")
    let file = try FileHandle(forReadingFrom: URL(filePath: scratch.path + "/original"))
    let blob = try await store.blobs.addBlocking(copying: file.fileDescriptor).blob
    return PinnedAsset(blob, type: type, in: store)
  }

  func text(of media: RenderedMedia) throws -> String? {
    switch media {
    case .stored(let media): try String(contentsOfFile: media.path, encoding: .utf8)
    case .transient(let media): String(decoding: media.bytes, as: UTF8.self)
    case .redirect(let location): location
    }
  }
}

extension Renderer {
  /// The rendition, for nobody in particular.
  func rendition(_ request: RenditionRequest) async throws(ServiceError) -> RenderedMedia {
    try await rendition(request, for: nil)
  }
}
