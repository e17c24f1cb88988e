package import FoundationEssentials

/// Azure Notification Hubs, for Android devices: those that are registered here, and those that the hub has.
///
/// The hub sends to them through its own Firebase project.
package struct AzureFirebaseProvider: AzureService {
  package static let name = "azure-fcmv1"
  package static let traits = PushTraits(
    platforms: FCMProvider.traits.platforms, largestPayload: FCMProvider.traits.largestPayload,
    profile: FCMProvider.traits.profile, limitsSilentPushes: false,
    collapseLimit: FCMProvider.traits.collapseLimit, resolvesTags: true)
  package static let format = PayloadFormat.firebase(.data)
  // The version of Microsoft's own libraries.
  package static let hubFormat = AzureFormat(name: "fcmv1", version: "2020-06")

  package static func format(_ settings: Settings) -> PayloadFormat { .firebase(settings.kind) }

  package let hub: AzureHub
  private let kind: FCMMessageKind

  /// A provider for one hub.
  package init(
    connection: AzureConnection, kind: FCMMessageKind = .data, trustAnchor: String? = nil,
    timeout: Duration = .seconds(30), now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) {
    self.kind = kind
    hub = try AzureHub(connection, trustAnchor: trustAnchor, timeout: timeout, now: now)
  }

  /// The provider of `--push azure-fcmv1`.
  package init(
    _ settings: Settings, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    try self.init(
      connection: settings.connection, kind: settings.kind, trustAnchor: trustAnchor, now: now)
  }

  package func payload(of message: PushMessage) -> PayloadTemplate {
    .firebase(message, as: kind)
  }

  package static func problem(with target: OutgoingPush.Target) -> String? {
    guard case .device(let handle, let platform) = target,
      traits.platforms.contains(where: { $0.name == platform }), !handle.isEmpty,
      // It is a header field.
      handle.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return "Only pushes to Android devices are sent through Azure in this format." }
    return nil
  }

  package func message(
    of push: OutgoingPush
  ) -> (fields: [(name: String, value: String)], body: [UInt8])? {
    // What a device of the hub is still to get is not known, and beyond four keys Firebase drops messages.
    let isCollapsible = if case .device = push.target { push.isCollapsible } else { false }
    return FCMRequest(push, isCollapsible: isCollapsible, at: hub.now()).map { ([], $0.json) }
  }

  /// The hub, and what Android devices get.
  package struct Settings: PushServiceSettings {
    // Those of others.
    package static let variables: KeyValuePairs<String, String> = [:]

    let connection: AzureConnection
    let kind: FCMMessageKind

    package init(_ environment: EnvironmentSettings) throws(PushError) {
      connection = try AzureConnection(environment)
      kind = try FCMMessageKind(environment)
    }
  }
}
