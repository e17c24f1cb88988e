#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension RichPushClient {
  /// The languages that the device's user prefers, the best first; empty if that is not known.
  public static var preferredLanguages: [String] {
    #if canImport(Darwin)
      Locale.preferredLanguages
    #else
      languages(in: ProcessInfo.processInfo.environment)
    #endif
  }

  /// The languages that the environment names (POSIX, Base Definitions, section 8.2), such as `de_CH.UTF-8`.
  static func languages(in environment: [String: String]) -> [String] {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { name in
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }.first
    guard let language = locale?.prefix(while: { $0 != "." && $0 != "@" }), language != "C",
      language != "POSIX"
    else { return [] }
    return [String(language).replacing("_", with: "-")]
  }
}
