import FoundationEssentials
import PluginHost
import Synchronization

/// Which versions of the plugins there are, looked up once a second however many ask, and anew when the
/// plugins' folder has changed.
final class PluginGlance: Sendable {
  private struct Sight {
    var look = 0
    var identities: [String: String?] = [:]
  }

  private let host: PluginHost
  private let sight = Mutex(Sight())

  init(host: PluginHost) { self.host = host }

  /// The number of the look that counts at this moment: another in each second, and after each change.
  func look(at moment: Date) -> Int {
    Int(moment.timeIntervalSince1970) &+ host.changes &<< 36
  }

  /// Whether the plugin is the one that renders its rich type, as of this look.
  func isCurrent(_ plugin: Plugin, in look: Int) -> Bool {
    let known = sight.withLock { sight in
      if sight.look != look { sight = Sight(look: look) }
      return sight.identities[plugin.richType]
    }
    if let known { return known == plugin.identity }
    let identity = host.plugin(plugin.richType)?.identity
    sight.withLock { if $0.look == look { $0.identities[plugin.richType] = .some(identity) } }
    return identity == plugin.identity
  }
}
