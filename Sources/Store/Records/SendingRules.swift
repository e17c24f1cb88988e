package import FoundationEssentials

/// What the team has decided about all pushes that are not urgent.
package struct SendingRules: Sendable {
  /// The hours of each day in which none is sent, by the clock of each device; nil for none.
  package var quietPeriod: QuietPeriod?
  /// The time zone of devices that have named none, and of pushes that are to no single device.
  package var zone: TimeZone

  /// How many notifications a person is pushed in any 24 hours at most, but for urgent ones, which count; nil for any
  /// number.
  package var mostADay: Int?

  /// Rules that forbid nothing.
  package init(zone: TimeZone = .current) { self.zone = zone }
}
