/// Which push service sends to a device, by the platform that the device has registered.
///
/// Only one service sends to a device, the first in `--push` that can, so that it gets each push once.
package struct PlatformLanes: Sendable {
  /// The services in the order of `--push`.
  private let services: [any PushService.Type]

  init(services: [any PushService.Type]) { self.services = services }

  /// Parses a list as in `--push`.
  ///
  /// - Throws: `PushError` if it names no service, or an unknown one.
  package init(_ list: String) throws(PushError) {
    services = try PushConfiguration.services(in: list)
  }

  /// Whether the server's own stream is one of them.
  package var isEmbedded: Bool { services.contains { $0 == EmbeddedGateway.self } }

  /// The lanes of services that find devices by their tags.
  package var resolvingTags: [String] {
    services.filter { $0.traits.resolvesTags }.map { $0.name }
  }

  /// The lane that sends to devices of a platform; nil if none does.
  package func lane(of platform: String) -> String? {
    services.first { $0.traits.lanes != .none && Self.supports($0, platform) }?.name
  }

  /// The service that sends to devices of a platform: a lane or, without one, the embedded gateway; nil if
  /// none does.
  package func service(of platform: String) -> String? {
    lane(of: platform) ?? services.first { Self.supports($0, platform) }?.name
  }

  /// The platforms that no service sends to.
  package var unreached: [String] {
    PushServices.platforms.map(\.name).filter { service(of: $0) == nil }
  }

  /// Why devices of a platform get no pushes, for people.
  package func gap(of platform: String) -> String {
    let names = services.map { $0.name }.joined(separator: ", ")
    return "This server's push services (\(names)) do not send to \(platform)."
      + (isEmbedded
        ? " The device gets pushes only while it listens to /api/push/stream." : "")
  }

  private static func supports(_ service: any PushService.Type, _ platform: String) -> Bool {
    service.traits.platforms.contains { $0.name == platform }
  }
}
