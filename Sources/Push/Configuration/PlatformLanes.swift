/// Which push service sends to a device, by the platform that the device has registered.
///
/// Only one service sends to a device, the first in `--push` that can, so that it gets each push once.
package struct PlatformLanes: Sendable {
  /// The platforms that a registration may name: those of Azure's tutorial, Web Push and Firebase.
  package static let platforms = ["apns", "gcm", "wns", "mpns", webPush, "fcm"]
  /// The platform of browsers and UnifiedPush distributors.
  package static let webPush = "webpush"

  /// The platforms that a service sends to.
  private static let supportedPlatforms = [
    "embedded": ["apns"], "apns": ["apns"], "azure": ["apns"],
    "webhook": ["apns", "gcm", "wns", "mpns", "fcm"], WebPushLane.service: [webPush],
    // Azure's tutorial calls Firebase by its former name.
    FCMProvider.lane: ["fcm", "gcm"],
  ]

  /// The services in the order of `--push`.
  private let services: [String]

  init(services: [String]) { self.services = services }

  /// Parses a list as in `--push`.
  ///
  /// - Throws: `PushError` if it names no service, or an unknown one.
  package init(_ list: String) throws(PushError) {
    services = try PushConfiguration.services(in: list)
  }

  /// Whether the list has a service.
  package func has(_ service: String) -> Bool { services.contains(service) }

  /// The lane that sends to devices of a platform; nil if none does.
  package func lane(of platform: String) -> String? {
    services.first { $0 != PushConfiguration.embedded && Self.supports($0, platform) }
  }

  /// The service that sends to devices of a platform: a lane or, without one, the embedded gateway; nil if
  /// none does.
  package func service(of platform: String) -> String? {
    lane(of: platform) ?? services.first { Self.supports($0, platform) }
  }

  /// The platforms that no service sends to.
  package var unreached: [String] { Self.platforms.filter { service(of: $0) == nil } }

  /// Why devices of a platform get no pushes, for people.
  package func gap(of platform: String) -> String {
    "This server's push services (\(services.joined(separator: ", "))) do not send to \(platform)."
      + (services.contains(PushConfiguration.embedded)
        ? " The device gets pushes only while it listens to /api/push/stream." : "")
  }

  private static func supports(_ service: String, _ platform: String) -> Bool {
    supportedPlatforms[service]?.contains(platform) ?? false
  }
}
