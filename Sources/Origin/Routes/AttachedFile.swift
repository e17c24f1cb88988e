import FoundationEssentials
import HTTP
import Intake
import RichPushAPI
import Store

/// A file that comes with a notification and belongs to it alone.
struct AttachedFile: Sendable {
  /// Where it is: in a file of its own, or here.
  enum Content: Sendable {
    case bytes([UInt8])
    case saved(SavedBody)
  }

  let content: Content
  /// What its sender calls it; it is only shown.
  var name: String?

  /// The last part of what the sender calls a file, or `attachment` if that could mislead a reader.
  static func shownName(_ name: String?) -> AssetName {
    let last = name?.split { "/\\".contains($0) }.last.map(String.init)
    let fallback = AssetName("attachment")
    guard let name = last.flatMap(AssetName.init) ?? fallback else {
      preconditionFailure("a plain word is a file's name")
    }
    return name
  }

  /// Makes it an asset without a place in the drop folder: the notification keeps its content.
  ///
  /// - Throws: the reason of the plugin that refuses it, or `unsupportedType` if none takes it.
  func attached(by intake: AssetIntake, in store: Store) async throws -> AssetRecord {
    let body: SavedBody
    switch content {
    case .saved(let saved): body = saved
    case .bytes(let bytes):
      body = SavedBody(path: store.uploadPath(), size: bytes.count)
      try Data(bytes).write(to: URL(filePath: body.path))
    }
    return try await intake.attach(
      body.path, intake.richType(ofFileAt: body.path), Self.shownName(name))
  }
}
