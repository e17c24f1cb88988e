import FoundationEssentials

extension PushText {
  /// The most notifications that one alert speaks for.
  static let mergeLimit = 50

  /// One alert in place of several, the newest first: it shows all their messages, as far as there
  /// is room, brings the newest's media, and names every notification in `richIds`.
  ///
  /// Nil when one of them is no alert that ``PushForm/alert`` wrote.
  static func merged(_ alerts: [PushText]) -> PushText? {
    let read = alerts.prefix(mergeLimit).compactMap(Announced.init)
    guard let newest = alerts.first, read.count == alerts.count, let first = read.first else {
      return nil
    }
    let head = #"{"aps":{"alert":{"body":"#
    let known = head + JSONText.quoted(first.aps.alert.body)
    let id = #""richId":\#(JSONText.quoted(first.richId))"#
    guard newest.json.hasPrefix(known) else { return nil }
    let rest = newest.json.dropFirst(known.count)
    guard let place = rest.firstRange(of: id) else { return nil }
    let ids = read.map { JSONText.quoted($0.richId) }.joined(separator: ",")
    let tail = "\(rest[..<place.upperBound]),\"richIds\":[\(ids)]\(rest[place.upperBound...])"
    return PushText(.alert, message: read.map(\.aps.alert.body).joined(separator: "\n")) {
      head + $0 + tail
    }
  }

  /// What an alert says of the notification that it announces.
  private struct Announced: Decodable {
    struct Service: Decodable {
      struct Alert: Decodable { let body: String }
      let alert: Alert
    }

    let aps: Service
    let richId: String

    init?(_ text: PushText) {
      guard text.kind == .alert,
        let read = try? JSONDecoder().decode(Announced.self, from: Data(text.json.utf8))
      else { return nil }
      self = read
    }
  }
}
