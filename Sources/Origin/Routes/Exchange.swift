import HTTP

/// A request with its caller, its place's parameters and its body, as a route's handler gets it.
struct Exchange: Sendable {
  let request: Request
  let caller: Caller
  /// The path's variable segments, in order.
  let parameters: [String]
  /// The body; empty for routes that take none.
  var body: [UInt8] = []
  /// The body of a place that takes files.
  var file: SavedBody?

  /// The registration of the device that asks, if it says so; whose it is, the store knows.
  var device: String? {
    guard let id = request.fields["Richpush-Device"], (1...64).contains(id.utf8.count) else {
      return nil
    }
    return id
  }

  /// The notification id in the path: a decimal number that fits int32.
  func notificationID() throws(Refusal) -> Int {
    guard let text = parameters.first, let id = Int32(text), id >= 0, String(id) == text else {
      throw Refusal.noNotification
    }
    return Int(id)
  }

  /// The query's parameters, when they are all among `names`.
  func query(_ names: String...) throws(Refusal) -> [String: String] {
    var values: [String: String] = [:]
    for (name, value) in request.query.items {
      guard names.contains(name) else {
        throw Refusal(400, "There is no query parameter \(name.quoted).")
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw Refusal(400, "The query parameter \(name) is given twice.")
      }
    }
    return values
  }
}
