import Foundation

/// How much a suite named `…SoakTests` does: a short form in every test run, the long one in `make soak`.
enum Soak {
  static let isLong = ProcessInfo.processInfo.environment["RICHPUSH_SOAK"] != nil

  static func amount(short: Int, long: Int) -> Int { isLong ? long : short }
}
