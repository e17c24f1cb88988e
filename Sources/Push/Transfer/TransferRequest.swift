/// One POST to a push service.
struct TransferRequest: Sendable {
  let url: String
  /// The header fields that it has for itself.
  let fields: [(name: String, value: String)]
  /// Those that it has in common with others.
  var shared: SharedFields?
  let body: String
}

/// What a push service answered.
struct TransferResponse: Sendable {
  /// The most bytes of a body that are read; what follows is not waited for.
  static let limit = 65_536
  /// The most bytes of a field.
  static let fieldLimit = 1024
  /// The header fields that are kept.
  static let names = ["apns-id", "location", "retry-after", "date"]

  var status = 0
  /// The fields of ``names`` that were there.
  var fields: [(name: String, value: String)] = []
  var body: [UInt8] = []

  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }

  /// The beginning of what a service said, on one line: for receipts, logs and terminals.
  static func line(_ text: some StringProtocol) -> String {
    let scalars = text.unicodeScalars.prefix(200).map { scalar in
      scalar.properties.generalCategory == .control ? " " : scalar
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// A header field by its lower-case name.
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}

/// Why there was no answer.
struct TransferFailure: Error, CustomStringConvertible {
  let reason: String
  /// Whether the service was silent for too long on a connection that stood, and may be dead.
  let isSilence: Bool

  var description: String { reason }
}
