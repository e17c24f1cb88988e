/// Which push service sends to a device, by the platform that the device has registered.
///
/// Only one service sends to a device, the first in `--push` that can, so that it gets each push once.
package struct PlatformLanes: Sendable {
  /// The services in the order of `--push`.
  package let all: [any PushService.Type]

  init(services: [any PushService.Type]) { all = services }

  /// Parses a list as in `--push`.
  ///
  /// - Throws: `PushError` if it names no service, or an unknown one.
  package init(_ list: String) throws(PushError) {
    all = try PushConfiguration.services(in: list)
  }

  /// Whether the server's own stream is one of them.
  package var isEmbedded: Bool { all.contains { $0 == EmbeddedGateway.self } }

  /// The lanes of services that find devices by their tags.
  package var resolvingTags: [String] {
    all.filter { $0.traits.resolvesTags }.map { $0.name }
  }

  /// The lane that sends to devices of a platform; nil if none does.
  package func lane(of platform: String) -> String? {
    all.first { $0.traits.lanes != .none && Self.supports($0, platform) }?.name
  }

  /// The service that sends to devices of a platform: a lane or, without one, the embedded gateway; nil if
  /// none does.
  package func service(of platform: String) -> String? {
    lane(of: platform) ?? all.first { Self.supports($0, platform) }?.name
  }

  /// The platforms that no service sends to.
  package var unreached: [String] {
    PushServices.platforms.map(\.name).filter { service(of: $0) == nil }
  }

  /// Why devices of a platform get no pushes, for people.
  package func gap(of platform: String) -> String {
    let names = all.map { $0.name }.joined(separator: ", ")
    return "This server's push services (\(names)) do not send to \(platform)."
      + (isEmbedded
        ? " The device gets pushes only while it listens to /api/push/stream." : "")
  }

  private static func supports(_ service: any PushService.Type, _ platform: String) -> Bool {
    service.traits.platforms.contains { $0.name == platform }
  }
}
