import CCurl
import FoundationEssentials

/// One POST to a push service.
struct ServiceRequest: Sendable {
  let url: String
  /// The header fields of this request alone.
  let fields: [(name: String, value: String)]
  /// The header fields that it shares with other requests.
  var shared: HeaderList?
  let body: [UInt8]
  /// Whether only addresses of the public Internet may be connected to, because a user chose the URL.
  var isPublicOnly = false
  /// The addresses of the URL's host, as entries of `CURLOPT_RESOLVE`; nil if libcurl may look them up.
  var addresses: [String]?
  /// It is sent over a connection that was made after this time; nil for any.
  var connectionsSince: ContinuousClock.Instant?

  init(
    url: String, fields: [(name: String, value: String)], shared: HeaderList? = nil, body: [UInt8]
  ) {
    (self.url, self.fields, self.shared, self.body) = (url, fields, shared, body)
  }

  /// A request with a text as its body.
  init(
    url: String, fields: [(name: String, value: String)], shared: HeaderList? = nil, body: String
  ) {
    self.init(url: url, fields: fields, shared: shared, body: Array(body.utf8))
  }
}

/// The response of a push service.
struct ServiceResponse: Sendable {
  /// The most bytes of a body that are read; the rest is discarded.
  static let bodyLimit = 65_536
  /// The most bytes of a field's value.
  static let fieldLimit = 1024
  /// The header fields that are kept.
  static let names = ["apns-id", "location", "retry-after", "date"]

  var status = 0
  /// The fields of ``names`` that were sent.
  var fields: [(name: String, value: String)] = []
  var body: [UInt8] = []

  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }

  /// The beginning of a service's text on one line, for receipts, logs and terminals.
  static func line(_ text: some StringProtocol) -> String {
    let scalars = text.unicodeScalars.prefix(200).map { scalar in
      scalar.properties.generalCategory == .control ? " " : scalar
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// A header field by its lower-case name.
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The `Date` field: when the service sent the response, by its clock.
  var date: Date? { Self.date(field("date")) }

  /// The `Retry-After` field (RFC 9110 section 10.2.3): seconds or a date; a day at most.
  func retryAfter(at now: Date) -> Duration? { Self.retryAfter(field("retry-after"), at: now) }

  static func retryAfter(_ text: String?, at now: Date) -> Duration? {
    let seconds = text.flatMap { Int($0) }.map(Double.init) ?? date(text)?.timeIntervalSince(now)
    return seconds.map { .seconds(min(max(0, $0), 86_400)) }
  }

  /// An HTTP date (RFC 9110 section 5.6.7), parsed by `curl_getdate`.
  static func date(_ text: String?) -> Date? {
    guard let text else { return nil }
    let time = curl_getdate(text, nil)
    return time < 0 ? nil : Date(timeIntervalSince1970: Double(time))
  }
}

/// Why there was no response.
struct ServiceFailure: Error, CustomStringConvertible {
  let reason: String
  /// Whether the connection was established but the service silent for too long: it may be dead.
  let isTimeout: Bool
  /// Whether it was not connected to because its address is not public.
  var isForbidden = false

  var description: String { reason }
}

/// Header fields in libcurl's form; many requests may share one list.
// Unchecked: the list never changes.
final class HeaderList: @unchecked Sendable {
  let list: UnsafeMutablePointer<curl_slist>?

  init(_ fields: [(name: String, value: String)]) { list = Self.list(fields) }

  deinit { curl_slist_free_all(list) }

  /// The fields as a list that the caller has to free.
  static func list(
    _ fields: [(name: String, value: String)]
  ) -> UnsafeMutablePointer<curl_slist>? {
    fields.reduce(nil) { list, field in
      // A value with a line break could become a second field, so it is left out.
      guard field.value.utf8.allSatisfy({ $0 >= 0x20 }) else { return list }
      return curl_slist_append(list, "\(field.name): \(field.value)")
    }
  }
}
