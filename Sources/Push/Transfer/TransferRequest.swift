/// One request to a push service.
struct TransferRequest: Sendable {
  let method: String
  let url: String
  let fields: [(name: String, value: String)]
  let body: [UInt8]

  init(
    method: String = "POST", url: String, fields: [(name: String, value: String)],
    body: [UInt8] = []
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
  }
}

/// What a push service answered; bodies are cut at 64 KiB.
struct TransferResponse: Sendable {
  static let bodyLimit = 65_536
  static let fieldLimit = 100

  var status = 0
  /// Header fields by their lower-case names.
  var fields: [String: String] = [:]
  var body: [UInt8] = []

  /// The body as text, for messages.
  var text: String { String(decoding: body, as: UTF8.self) }
}

/// Why there was no answer.
struct TransferFailure: Error, CustomStringConvertible {
  let reason: String
  /// Whether the service was silent for too long on a connection that may be dead.
  let isTimeout: Bool

  var description: String { reason }
}
