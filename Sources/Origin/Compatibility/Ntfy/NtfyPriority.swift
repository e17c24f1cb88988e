import RichPushAPI

/// How much a message may interrupt: from 1 to 5.
enum NtfyPriority {
  static let normal = 3

  /// Reads a number or a name.
  ///
  /// - Throws: if it is none of them.
  static func number(_ text: String) throws(ServiceError) -> Int {
    switch text.lowercased() {
    case "1", "min": 1
    case "2", "low": 2
    case "3", "default": normal
    case "4", "high": 4
    case "5", "max", "urgent": 5
    default:
      throw ServiceError(
        .init(
          "priority", .rejected,
          "priority must be from 1 to 5, or min, low, default, high, max or urgent."))
    }
  }
}
