package import FoundationEssentials

/// Azure Notification Hubs, for the browsers that the hub has.
///
/// Those that are registered here have subscribed with this server's key, with which the hub can't send.
package struct AzureBrowserProvider: AzureService {
  package static let name = "azure-browser"
  package static let traits = PushTraits(
    platforms: [], largestPayload: WebPushProvider.traits.largestPayload,
    profile: WebPushProvider.traits.profile, limitsSilentPushes: false, resolvesTags: true)
  package static let format = PayloadFormat.web
  // The version of Microsoft's own libraries.
  package static let hubFormat = AzureFormat(name: "browser", version: "2020-06")

  package let hub: AzureHub

  /// A provider for one hub.
  package init(
    connection: AzureConnection, trustAnchor: String? = nil, timeout: Duration = .seconds(30),
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) {
    hub = try AzureHub(connection, trustAnchor: trustAnchor, timeout: timeout, now: now)
  }

  /// The provider of `--push azure-browser`.
  package init(
    _ settings: AzureConnection, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    try self.init(connection: settings, trustAnchor: trustAnchor, now: now)
  }

  package static func problem(with target: OutgoingPush.Target) -> String? {
    "Only browsers that the hub has are sent to in this format."
  }

  package func message(
    of push: OutgoingPush
  ) -> (fields: [(name: String, value: String)], body: [UInt8])? {
    ([], Array(push.text.json.utf8))
  }
}
