/// Which push service sends to a device, by the platform that the device has registered.
///
/// Only one service sends to a device, the first in `--push` that can, so that it gets each push once.
package struct PlatformLanes: Sendable {
  /// The services in the order of `--push`.
  package let all: [any PushService.Type]
  /// What those with settings send, by their names.
  private let formats: [String: PayloadFormat]

  /// `formats` are what services send with their settings, by their names.
  package init(services: [any PushService.Type], formats: [String: PayloadFormat] = [:]) {
    (all, self.formats) = (services, formats)
  }

  /// Parses a list as in `--push`; the services send what they do without settings.
  ///
  /// - Throws: `PushError` if it names no service, or an unknown one.
  package init(_ list: String) throws(PushError) {
    self.init(services: try PushConfiguration.services(in: list))
  }

  /// What a service sends, or would send if it were in the list.
  package func format(of service: any PushService.Type) -> PayloadFormat {
    formats[service.name] ?? service.format
  }

  /// The first service of each format.
  package var firstOfEachFormat: [any PushService.Type] {
    var formats: Set<PayloadFormat> = []
    return all.filter { formats.insert(format(of: $0)).inserted }
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
