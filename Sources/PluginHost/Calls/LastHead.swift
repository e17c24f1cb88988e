import Synchronization

/// The header that a plugin's last answer had, as it was read: the next one mostly has the same.
final class LastHead: Sendable {
  /// What is known of a header.
  struct Reading: Sendable {
    let head: AnswerHead
    /// Whether its type is one that the plugin may answer with.
    let isProduced: Bool
  }

  private let plugin: Plugin
  private let last = Mutex<(bytes: [UInt8], reading: Reading)?>(nil)

  init(of plugin: Plugin) { self.plugin = plugin }

  /// Reads a header, if need be.
  func reading(_ bytes: [UInt8]) throws(Malformation) -> Reading {
    if let known = last.withLock({ $0?.bytes == bytes ? $0?.reading : nil }) { return known }
    let head = try AnswerHead(bytes)
    let reading = Reading(
      head: head, isProduced: head.contentType.map(plugin.produces) ?? false)
    last.withLock { $0 = (bytes, reading) }
    return reading
  }
}
