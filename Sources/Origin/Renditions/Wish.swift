import FoundationEssentials
import MediaTypes
import PluginHost
import Store

/// A subject for one set of options, as one version of its plugin makes it.
struct Wish: Sendable {
  let subject: Subject
  let options: RenditionOptions
  let plugin: Plugin
  /// The name of who asks; empty where what is made is for all.
  let user: String
  /// What the rendition is stored under.
  let key: Digest

  init(
    subject: Subject, options: RenditionOptions, plugin: Plugin, user: String, owner: UserID? = nil
  ) {
    (self.subject, self.options, self.plugin, self.user) = (subject, options, plugin, user)
    let items = options.items.map { "\($0.name)=\($0.value)" }.joined(separator: "\0")
    let owner = plugin.manifest.perUser ? "\(owner?.rawValue ?? 0) \(user)" : ""
    key = Digest(
      of: [plugin.identity, subject.richType, subject.content, items, owner].joined(
        separator: "\u{1}"))
  }

  /// The question to the plugin.
  var call: PluginCall {
    PluginCall(
      verb: .render, richType: subject.richType, id: subject.id.map(String.init),
      message: subject.message, payload: subject.payload, asset: subject.asset,
      options: options.limits, query: options.items, user: user)
  }

  /// The name a device may save the content under, with the ending that its bytes deserve.
  func fileName(_ type: String) -> String {
    let stem = subject.pinned == nil ? subject.richType : subject.payload
    let base = stem.split(separator: ".", omittingEmptySubsequences: false)
    let name = base.count > 1 ? base.dropLast().joined(separator: ".") : stem
    guard let ending = MediaType(type)?.fileExtension else { return name }
    return name + "." + ending
  }
}
