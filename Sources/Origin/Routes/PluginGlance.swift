import FoundationEssentials
import PluginHost
import Synchronization

/// Which versions of the plugins there are, looked up once a second however many ask.
final class PluginGlance: Sendable {
  private struct Sight {
    var second = 0
    var identities: [String: String?] = [:]
  }

  private let host: PluginHost
  private let sight = Mutex(Sight())

  init(host: PluginHost) { self.host = host }

  /// Whether the plugin is the one that renders its rich type, as of this second.
  func isCurrent(_ plugin: Plugin, at moment: Date) -> Bool {
    let second = Int(moment.timeIntervalSince1970)
    let known = sight.withLock { sight in
      if sight.second != second { sight = Sight(second: second) }
      return sight.identities[plugin.richType]
    }
    if let known { return known == plugin.identity }
    let identity = host.plugin(plugin.richType)?.identity
    sight.withLock { if $0.second == second { $0.identities[plugin.richType] = .some(identity) } }
    return identity == plugin.identity
  }
}
