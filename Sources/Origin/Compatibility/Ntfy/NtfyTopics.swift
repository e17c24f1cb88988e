import Push
import RichPushAPI
import Store

/// The topics that a reader asks for, each once.
struct NtfyTopics: Sendable, Equatable {
  /// All that the reader gets.
  static let inbox = "inbox"

  let names: [String]
  /// Those of the names that have all that the reader gets.
  private let whole: Set<String>

  /// Reads the first part of a path, such as `inbox,news`; `tags` are those by which the reader gets something, and
  /// `inboxes` the names of ``inbox`` of the reader's own.
  ///
  /// - Throws: `forbidden` if the reader has not the tag of one of the topics: as at ntfy, for all of them.
  init(
    _ list: String, tags: Set<String>, inboxes: Set<String>
  ) throws(ServiceError) {
    whole = inboxes.union([Self.inbox])
    var names: [String] = []
    for name in list.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      guard (try? Tag(name)) != nil else {
        throw ServiceError(
          .init(
            "topic", .invalidRequest, "\(String(name.prefix(80)).quoted) is no topic's name."))
      }
      guard whole.contains(name) || tags.contains(name) else {
        throw ServiceError(
          .init(
            "topic", .forbidden,
            "You get nothing by the tag \(name.quoted): give it to a device of yours, or subscribe "
              + "to the topic \(Self.inbox), which has all that you get."))
      }
      if !names.contains(name) { names.append(name) }
    }
    self.names = names
  }

  /// The names, as ntfy's server repeats them.
  var list: String { names.joined(separator: ",") }

  /// Those of the topics in which a notification for an audience is.
  func holding(_ audience: [String]) -> [String] {
    names.filter { name in
      whole.contains(name) || (try? Tag(name))?.isNamed(in: audience) == true
    }
  }
}

/// The inbox of one phone, whose topic has a name that no other has: who hears that it is subscribed to learns nothing
/// of others.
package struct NtfyInbox: Sendable {
  /// The URL to which the phone subscribes.
  package let address: String
  /// The topic.
  package let topic: String

  /// A new one at a server's address, such as `https://ntfy.example.org`.
  package init(at server: String) {
    topic = Self.prefix + ReadableName.random(count: 12)
    address = server + "/" + topic
  }

  /// The topic of a device with ntfy's app for iOS; nil for any other.
  static func topic(of device: DeviceRegistration) -> String? {
    guard device.platform == "ntfy", let name = device.handle.split(separator: "/").last,
      name.hasPrefix(prefix)
    else { return nil }
    return String(name)
  }

  private static let prefix = NtfyTopics.inbox + "-"
}
