/// What pages of other origins may ask and see (the Fetch standard's CORS protocol).
///
/// Cookies are never involved, so credentials are not either: a page sends its own Authorization.
struct CrossOrigin: Sendable {
  private let origins: Set<String>

  /// Nil when there is no such origin, so that nothing is ever said about it.
  init?(_ origins: Set<String>) {
    guard !origins.isEmpty else { return nil }
    self.origins = origins
  }

  /// The answer to a question that a browser asks before the real request; nil for any other.
  func preflight(_ request: Request) -> Response? {
    guard request.method == "OPTIONS", allowed(request) != nil,
      request.fields["Access-Control-Request-Method"] != nil
    else { return nil }
    return .empty(
      204,
      fields: [
        "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers":
          "Authorization, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Range, Range, "
          + "Idempotency-Key, Last-Event-ID, Richpush-Device, X-Request-Id",
        "Access-Control-Max-Age": "600",
      ])
  }

  /// Adds to an answer's fields who may read it.
  func mark(_ fields: inout Fields, for request: Request?) {
    if !origins.contains("*") {
      fields["Vary"] = fields["Vary"].map { $0 + ", Origin" } ?? "Origin"
    }
    guard let origin = request.flatMap(allowed) else { return }
    fields["Access-Control-Allow-Origin"] = origin
    fields.embedAnywhere()
    fields["Access-Control-Expose-Headers"] =
      "Accept-Ranges, Content-Range, ETag, Location, Retry-After, X-Request-Id"
  }

  private func allowed(_ request: Request) -> String? {
    guard let origin = request.fields["Origin"] else { return nil }
    if origins.contains("*") { return "*" }
    return origins.contains(origin) ? origin : nil
  }
}
