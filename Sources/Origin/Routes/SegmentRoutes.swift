import Delivery
import HTTP
import Primitives
import Push
import RichPushAPI
import Store

/// `/api/segments`: audiences that publishers have saved, for all publishers.
struct SegmentRoutes: Sendable {
  let store: Store
  let announcement: Announcement
  /// To how many people a notification may be sent without approval; nil for any number.
  let approveAbove: Int?

  /// `GET /api/segments`: the segments by their names.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("after", "limit")
    let limit = try query.number("limit", 1...200) ?? 50
    let after = query["after"] ?? ""
    guard after.isEmpty || Segment.isValid(name: after) else {
      throw ServiceError(.invalidRequest, "after must be the name of a segment.")
    }
    let found = try await store.segments.segments(after: after, limit: limit + 1)
    let page = found.prefix(limit)
    return .json(
      200,
      SegmentList(
        segments: try page.map(SavedSegment.init), next: found.count > limit ? page.last?.name : nil
      ))
  }

  /// `GET /api/segments/<name>`.
  func get(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    guard let found = try await store.segments.segment(Self.name(context)) else {
      throw Self.noSuchSegment
    }
    return try Self.response(200, found)
  }

  /// `PUT /api/segments/<name>`: saves one, with `If-Match` only if nobody else has meanwhile; with `dry-run`, only how
  /// many it would have.
  func put(_ context: RequestContext) async throws -> Response {
    let query = try context.query("dry-run")
    let segment = try JSONCoding.request(Segment.self, from: context.body)
    let name = context.parameters.first ?? ""
    try Self.check(segment, name: name)
    let version = try context.version(of: "segment")
    for (member, id) in [("opened", segment.opened), ("notOpened", segment.notOpened)] {
      try await store.requireFollowable(id, by: context.caller, member)
    }
    if query["dry-run"] != nil {
      return .json(
        200,
        try await AudienceSize(
          announcement.addressees(segment), announcement, approveAbove: approveAbove))
    }
    if context.request.fields["If-Match"] != nil, version == nil,
      try await store.segments.segment(name) == nil
    {
      throw ServiceError(.preconditionFailed, "There is no segment \(name) yet.")
    }
    let result = try await store.segments.putSegment(
      name, JSONCoding.text(segment), version: version, by: context.caller.id)
    switch result {
    case .added(let stored):
      return try Self.response(201, stored, fields: ["Location": "/api/segments/\(name)"])
    case .changed(let stored): return try Self.response(200, stored)
    case .changedMeanwhile(let stored):
      throw ServiceError(
        .preconditionFailed,
        stored.map {
          "\($0.editor ?? "Somebody") has changed this segment meanwhile: read it again."
        }
          ?? "Somebody has removed this segment meanwhile.")
    }
  }

  /// `DELETE /api/segments/<name>`: removes one, with `If-Match` only if nobody has changed it meanwhile.
  func delete(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let removal = try await store.segments.removeSegment(
      Self.name(context), version: context.version(of: "segment"))
    switch removal {
    case .removed: return .empty(204)
    case .missing: throw Self.noSuchSegment
    case .changedMeanwhile:
      throw ServiceError(
        .preconditionFailed, "Somebody has changed this segment meanwhile: read it again.")
    case .needed(let notification):
      throw ServiceError(
        .conflict,
        "Notification \(notification) is scheduled for this segment: withdraw it, or wait until it was sent."
      )
    }
  }

  /// - Throws: everything that is wrong with a segment.
  private static func check(_ segment: Segment, name: String) throws(ServiceError) {
    guard Segment.isValid(name: name) else {
      throw ServiceError(
        .rejected,
        "\(name.quoted) cannot be the name of a segment: up to 50 letters from A to Z, digits and _ . - are possible, the first a letter or a digit."
      )
    }
    var faults = segment.faults
    if let audience = segment.audience {
      do throws(ServiceError) { _ = try Draft.tags(audience.tags) } catch { faults += error.faults }
    }
    if let platform = segment.platform, PushServices.platform(named: platform) == nil {
      let known = PushServices.platforms.map(\.name).joined(separator: ", ")
      faults.append(.init("platform", .rejected, "platform must be one of \(known)."))
    }
    if let error = ServiceError(faults) { throw error }
  }

  private static func name(_ context: RequestContext) throws(ServiceError) -> String {
    guard let name = context.parameters.first, Segment.isValid(name: name) else {
      throw noSuchSegment
    }
    return name
  }

  private static func response(
    _ status: Int, _ segment: StoredSegment, fields: Fields = Fields()
  ) throws(ServiceError) -> Response {
    var fields = fields
    fields["ETag"] = "\"\(segment.version)\""
    fields["Cache-Control"] = "no-store"
    return .json(status, try SavedSegment(segment), fields: fields)
  }

  private static let noSuchSegment = ServiceError(.notFound, "There is no such segment.")
}

extension SavedSegment {
  /// A segment of the store.
  fileprivate init(_ stored: StoredSegment) throws(ServiceError) {
    self.init(
      name: stored.name, segment: try Segment(stored), version: stored.version,
      created: stored.created, updated: stored.updated)
    (author, editor) = (stored.author, stored.editor)
  }
}
