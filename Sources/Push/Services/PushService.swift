package import FoundationEssentials

/// A push service that `--push` can name; `PushServices.all` lists them.
package protocol PushService: Sendable {
  /// Its name in `--push`, in logs and in metrics; also the lane's, unless it has several.
  static var name: String { get }

  static var traits: PushTraits { get }

  /// What it sends, unless its settings say otherwise.
  static var format: PayloadFormat { get }
}

extension PushService {
  /// The payload of the pushes to its devices, unless its settings say otherwise.
  package static func payload(of message: PushMessage) -> PayloadTemplate {
    format.payload(of: message)
  }
}

/// A push service whose settings are environment variables.
package protocol ConfiguredPushService: PushService, PushProvider {
  associatedtype Settings: PushServiceSettings

  /// What it sends with these settings.
  static func format(_ settings: Settings) -> PayloadFormat

  /// A provider with these settings; `trustAnchor` is a PEM file of additional authorities.
  init(
    _ settings: Settings, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError)
}

/// The settings of a push service.
package protocol PushServiceSettings: Sendable {
  /// The environment variables that are read, with what each is for.
  static var variables: KeyValuePairs<String, String> { get }

  /// Reads them; an error names the variable.
  init(_ environment: EnvironmentSettings) throws(PushError)
}

extension ConfiguredPushService {
  package var name: String { Self.name }
  package var traits: PushTraits { Self.traits }
  package func payload(of message: PushMessage) -> PayloadTemplate { Self.payload(of: message) }
  package static func format(_ settings: Settings) -> PayloadFormat { format }

  /// Reads the settings, and returns what the service sends with them and what makes its provider.
  static func configured(
    _ environment: EnvironmentSettings
  ) throws(PushError) -> (format: PayloadFormat, make: ProviderMaker) {
    let settings = try Settings(environment)
    return (
      format(settings),
      { trustAnchor, now throws(PushError) in
        try Self(settings, trustAnchor: trustAnchor, now: now)
      }
    )
  }

  static var variables: KeyValuePairs<String, String> { Settings.variables }
}

/// Makes a provider; `trustAnchor` is a PEM file of additional authorities.
typealias ProviderMaker =
  @Sendable (
    _ trustAnchor: String?, _ now: @escaping @Sendable () -> Date
  ) throws(PushError) -> any PushProvider

/// The server's own stream of events, which devices listen to.
package enum EmbeddedGateway: PushService {
  package static let name = "embedded"
  package static let traits = PushTraits(
    platforms: [.apple], lanes: .none, largestPayload: PushPayload.limit, profile: "ios",
    limitsSilentPushes: false)
  package static let format = PayloadFormat.apple
}
