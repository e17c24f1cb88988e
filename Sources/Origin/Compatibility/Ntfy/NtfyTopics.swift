import Push
import RichPushAPI

/// The topics that a reader asks for, each once.
struct NtfyTopics: Sendable, Equatable {
  /// All that the reader gets.
  static let inbox = "inbox"

  let names: [String]

  /// Reads the first part of a path, such as `inbox,news`; `tags` are those by which the reader gets something.
  ///
  /// - Throws: `forbidden` if the reader has not the tag of one of the topics: as at ntfy, for all of them.
  init(_ list: String, tags: Set<String>) throws(ServiceError) {
    var names: [String] = []
    for name in list.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      guard (try? Tag(name)) != nil else {
        throw ServiceError(
          .init(
            "topic", .invalidRequest, "\(String(name.prefix(80)).quoted) is no topic's name."))
      }
      guard name == Self.inbox || tags.contains(name) else {
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
      name == Self.inbox || (try? Tag(name))?.isNamed(in: audience) == true
    }
  }
}
