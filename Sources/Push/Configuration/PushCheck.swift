import FoundationEssentials

/// What the check of one push service found.
package struct PushFinding: Sendable, Equatable {
  /// The service's name, as in `--push`.
  package let service: String
  package let isGood: Bool
  /// What is right, or what is wrong and what to do about it.
  package let sentence: String
}

/// A push service whose settings can be proved without reaching anybody.
package protocol PushCheckable: Sendable {
  /// Speaks to the service and says what it thinks of key, clock and address.
  func check() async -> [PushFinding]
}

/// Proves the configuration before a push depends on it.
package enum PushCheck {
  /// Checks every service in the list (as in `--push`); nothing in the result is bad if all is well.
  package static func run(
    _ list: String, environment: [String: String], clock: any PushClock = SystemClock()
  ) async -> [PushFinding] {
    var findings: [PushFinding] = []
    for name in list.split(separator: ",").map({ String($0.filter { !$0.isWhitespace }) }) {
      do {
        let configuration = try PushConfiguration(name, environment: environment)
        if configuration.isEmbedded {
          findings.append(
            PushFinding(
              service: name, isGood: true, sentence: "The embedded gateway needs nothing."))
        }
        for provider in try configuration.providers(clock: clock) {
          findings += await provider.check()
        }
      } catch {
        findings.append(PushFinding(service: name, isGood: false, sentence: "\(error)"))
      }
    }
    return findings
  }
}

/// The difference between this machine's clock and a service's.
enum ClockSkew {
  /// Signatures fail beyond a few minutes; this leaves room for slow answers.
  private static let tolerance: TimeInterval = 60

  /// A finding if the answer carries a `Date` that is far from our time.
  static func finding(
    service: String, response: TransferResponse, at now: Date
  ) -> PushFinding? {
    guard let theirs = HTTPTime.read(response.field("date")) else { return nil }
    let skew = now.timeIntervalSince(theirs)
    guard abs(skew) > tolerance else { return nil }
    return PushFinding(
      service: service, isGood: false,
      sentence: "This machine's clock is \(Int(abs(skew))) s \(skew > 0 ? "ahead" : "behind"); "
        + "signatures depend on it.")
  }
}
