public import RichPushAPI

/// Segments: audiences that publishers have saved, for all of them.
extension RichPushClient {
  /// A page of the segments by their names; `after` is `next` of the page before.
  ///
  /// ```swift
  /// for saved in try await client.segments().segments { print(saved.name, saved.editor ?? "") }
  /// ```
  public func segments(after: String? = nil, limit: Int? = nil) async throws -> SegmentList {
    let pairs = [("after", after), ("limit", limit.map(String.init))]
    return try await value(request("GET", ["api", "segments"], query: Self.query(pairs)))
  }

  /// Saves a segment under a name; in the place of one of that name, with a version only if nobody else has changed
  /// it since.
  ///
  /// ```swift
  /// var segment = Segment(to: .tags("news && !muted"))
  /// segment.language = "de"
  /// try await client.saveSegment("german-readers", segment)
  /// let new = NewNotification("Neu!", to: .segment("german-readers"))
  /// try await client.create(new)
  /// ```
  ///
  /// - Throws: ``RichPushError`` with the status 412 if somebody else has.
  @discardableResult
  public func saveSegment(
    _ name: String, _ segment: Segment, version: Int? = nil
  ) async throws -> SavedSegment {
    var request = try request("PUT", ["api", "segments", name], json: segment)
    request.fields["If-Match"] = version.map { "\"\($0)\"" }
    return try await value(request)
  }

  /// How many users and devices a segment would have now; it is not saved.
  ///
  /// ```swift
  /// var segment = Segment()
  /// segment.attributes = ["plan": "gold"]
  /// print(try await client.size(of: segment).users)
  /// ```
  public func size(of segment: Segment) async throws -> AudienceSize {
    try await value(
      request(
        "PUT", ["api", "segments", "new"], query: [(name: "dry-run", value: "")], json: segment))
  }

  /// Removes a segment.
  ///
  /// ```swift
  /// try await client.removeSegment("german-readers")
  /// ```
  ///
  /// - Throws: ``RichPushError`` with the status 409 if a notification is to be sent to it later.
  public func removeSegment(_ name: String) async throws {
    try await send(request("DELETE", ["api", "segments", name]))
  }
}
