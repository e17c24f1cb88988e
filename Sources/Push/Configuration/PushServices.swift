/// The push services that there are.
package enum PushServices {
  /// All, in the order in which people read them.
  package static let all: [any PushService.Type] = [
    EmbeddedGateway.self, AzureProvider.self, APNsProvider.self, WebhookProvider.self,
    WebPushProvider.self, FCMProvider.self, AzureFirebaseProvider.self, AzureBrowserProvider.self,
    NtfyProvider.self,
  ]

  /// The names that `--push` accepts.
  package static let names = all.map { $0.name }

  /// The platforms that a registration may name.
  package static let platforms = all.reduce(into: [Platform]()) { platforms, service in
    platforms += service.traits.platforms.filter { !platforms.contains($0) }
  }

  /// The profiles whose renditions payloads link to.
  package static let profiles = Set(all.map { $0.traits.profile })

  /// The platform of this name, or nil.
  package static func platform(named name: String) -> Platform? {
    platforms.first { $0.name == name }
  }

  /// The service of this name, or nil.
  static func named(_ name: String) -> (any PushService.Type)? { all.first { $0.name == name } }

  /// The service that a lane sends to, such as `apns` or `webpush:https://push.example`; nil if there is none.
  package static func service(ofLane lane: String) -> (any PushService.Type)? {
    all.first { service in
      switch service.traits.lanes {
      case .none: false
      case .one: lane == service.name
      case .onePerOrigin: lane.hasPrefix(service.name + ":")
      }
    }
  }
}
