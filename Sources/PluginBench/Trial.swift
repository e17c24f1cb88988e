import Foundation
package import PluginHost

/// What came of asking a plugin once.
package struct Trial: Sendable {
  /// The good answer; nil when there is an error.
  package let reply: PluginReply?
  /// What the caller would be told.
  package let error: PluginError?
  /// What went to the plugin and came back.
  package let exchanges: [Transcript.Exchange]
  /// What the server would have logged.
  package let log: [String]

  /// The HTTP status the caller would get.
  package var status: Int { reply?.status ?? error?.status ?? 0 }

  /// The content of the answer; empty for a redirect, a refusal, or the asset itself.
  package var content: [UInt8] {
    switch reply?.body {
    case .bytes(let bytes): bytes
    case .file(let file):
      (try? Data(contentsOf: URL(fileURLWithPath: file.path))).map(Array.init) ?? []
    case .asset, nil: []
    }
  }

  /// Whether the plugin did what it may: answered, or refused for a reason.
  var isOrderly: Bool { status < 500 }

  /// Whether the answer is the asset, sent as it is.
  var isAsset: Bool { if case .asset = reply?.body { true } else { false } }

  /// The cause in a few words, for a check that found one.
  var cause: String {
    log.last { !$0.contains(" says: ") } ?? error.map { "\($0.status): \($0.reason)" }
      ?? "\(status)"
  }

  /// Whether it is the same answer as another.
  func equals(_ other: Trial) -> Bool {
    status == other.status && reply?.contentType == other.reply?.contentType
      && reply?.location == other.reply?.location && isAsset == other.isAsset
      && content == other.content
  }
}
