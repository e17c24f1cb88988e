import OpenID
import Primitives

/// Notices when nobody can sign in at the provider of OpenID Connect, and when they can again.
final class ProviderMonitor: Sendable {
  /// The provider, as people sign in at it.
  let provider: OpenIDProvider
  private let conditions: Conditions
  private let clock: any SteadyClock

  /// How often it is asked.
  static let interval = Duration.seconds(60)

  init(_ provider: OpenIDProvider, conditions: Conditions, clock: any SteadyClock) {
    (self.provider, self.conditions, self.clock) = (provider, conditions, clock)
  }

  /// Asks from time to time, until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await check()
      try? await clock.sleep(for: Self.interval)
    }
  }

  /// Asks the provider, which may take as long as its timeout.
  func check() async {
    try? await provider.check()
    update()
  }

  /// Records what the provider has answered lately, also to somebody who signs in.
  func update() {
    guard let problem = provider.problem else { return conditions.set(.providerUnusable, nil) }
    let todo =
      problem.code == .away
      ? "look at its server, and at the network between"
      : "compare --oidc-issuer, --oidc-client-id and the client's secret with its settings"
    conditions.set(
      .providerUnusable,
      "nobody can sign in at the provider of OpenID Connect (\(problem.reason)): \(todo)",
      name: provider.configuration.issuer, reason: problem.reason)
  }
}
