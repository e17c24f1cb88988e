import Foundation
import MediaTypes
import RichPushClient

/// Media that came, and what its bytes say about it.
struct ReceivedMedia {
  let media: Media
  private let bytes: [UInt8]
  /// The type the bytes have, whatever the server called it.
  let type: MediaType

  init(_ media: Media) {
    self.media = media
    bytes = [UInt8](media.bytes)
    type = MediaType.sniff(bytes)
  }

  /// The name a notification's media is saved under.
  func fileName(id: Int) -> String {
    isCard ? "\(id).json" : "\(id).\(type.fileExtension)"
  }

  /// Type, dimensions and size for a person: `image/png, 320x200, 18.4 kB`.
  var summary: String {
    ([media.contentType] + facts + [size]).joined(separator: ", ")
  }

  /// What it is, in a word.
  var noun: String {
    switch type.family {
    case "image": "picture"
    case "audio": "sound"
    default: isCard ? "card" : "content"
    }
  }

  private var isCard: Bool { media.contentType.hasPrefix("application/json") }

  private var facts: [String] {
    if let picture = PictureSize.read(bytes) { return ["\(picture)"] }
    if type.family == "audio" || type.family == "video", let sound = try? Sound.read(bytes) {
      return [String(format: "%.1f s", sound.duration)]
    }
    if isCard, let card = try? JSONDecoder().decode(JSONValue.self, from: media.bytes) {
      return [card.title.text, card.url.text].compactMap { $0 }
    }
    return []
  }

  private var size: String {
    bytes.count < 1000
      ? "\(bytes.count) bytes" : String(format: "%.1f kB", Double(bytes.count) / 1000)
  }
}
