import FoundationEssentials
import HTTP
import Intake
import Primitives
import Media
import RichPushAPI
import PluginHost
import Store

/// `/api/assets`: the files in the drop folder, with their states.
struct AssetRoutes: Sendable {
  let store: Store
  let assets: AssetIntake
  let renderer: Renderer
  /// The user in whose name dropped files are published; nil if nobody's.
  let sender: String?
  /// How long the content of replaced and removed assets is kept, in seconds.
  let versionAge: TimeInterval
  /// Limits what is brought back at once.
  let restorations = KeyedSemaphore<UserID>(width: UserQuota.uploads)

  /// `GET /api/assets[/<richType>]`: the catalogue, by rich type and name unless `sort` has another order, a page at a
  /// time.
  func list(_ context: RequestContext) async throws -> Response {
    let richType = try Self.richType(context)
    let query = try context.query("limit", "after", "state", "sort", "unused", "label")
    let limit = try query.number("limit", 1...1000) ?? 100
    var filter = AssetFilter(
      richType: richType, state: try query.choice("state", AssetRecord.State.self))
    filter.isUnused = query["unused"] != nil
    if let label = query["label"] {
      guard !label.utf8.contains(0x2C) else {
        throw ServiceError(.invalidRequest, "label is one label; none has a comma.")
      }
      filter.label = AssetIntake.labels([label]).first
    }
    let order = try query.choice("sort", AssetOrder.self)
    let after = query["after"].map { AssetPosition($0, in: order) }
    var counts: [AssetRecord.State: Int] = [:]
    if richType != nil || after == nil {
      counts = try await store.assets.assetCounts(richType: richType)
    }
    if let richType, richType != DropFolder.publishFolderName, counts.isEmpty {
      try checkPlugin(of: richType)
    }
    let found = try await store.assets.assets(
      filter, order: order, limit: limit + 1, after: after)
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last.map { $0.position(in: order) } : nil
    return .json(
      200,
      AssetPage(
        assets: page.map(message), next: next,
        counts: after == nil
          ? AssetCounts(
            ready: counts[.ready] ?? 0, preparing: counts[.preparing] ?? 0,
            refused: counts[.refused] ?? 0) : nil))
  }

  /// `GET /api/asset-labels`: the labels of assets, the most frequent first.
  func labels(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let labels = try await store.assets.assetLabels()
      .sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
    return .json(
      200, AssetLabelList(labels: labels.prefix(1000).map { AssetLabel($0.key, count: $0.value) }))
  }

  /// - Throws: `notFound`, with the list of rich types.
  private func checkPlugin(of richType: String) throws(ServiceError) {
    do { _ = try assets.validator.plugin(richType) } catch {
      throw ServiceError(.notFound, error.reason)
    }
  }

  /// The asset, with the progress of its preparation.
  func message(_ asset: AssetRecord) -> Asset {
    guard asset.state == .preparing, asset.blob != nil,
      let preparation = try? Preparation(asset, in: store, assets.validator)
    else { return asset.message() }
    return asset.message(progress: preparation.progress(in: store))
  }

  /// `GET /api/assets/<richType>/<name>`: one asset, as it is in the folder now.
  func one(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    return .json(200, message(try await examine(richType, name)))
  }

  /// `GET /api/assets/<richType>/<name>/media`: a rendition of the asset, with the options of a notification's.
  ///
  /// It is the one that a notification with this asset has.
  func media(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    let asset = try await examine(richType, name)
    guard asset.state != .refused else {
      throw ServiceError(.assetNotReady, asset.reason ?? "The asset is refused.")
    }
    return try await rendition(asset, context)
  }

  /// A rendition of an asset with the options in the query.
  func rendition(_ asset: AssetRecord, _ context: RequestContext) async throws -> Response {
    let preparation = try Preparation(asset, in: store, assets.validator)
    let plugin = preparation.plugin
    let options = try RenditionOptions(
      context.request.query.items, declaring: plugin.manifest.query,
      defaults: plugin.manifest.queryDefaults)
    let rendered = try await renderer.rendition(
      RenditionRequest(
        source: preparation.source, options: options, plugin: plugin, user: context.caller.name,
        owner: context.caller.id), for: context.caller.id)
    guard let stored = rendered.stored else { return rendered.response }
    // The name may get other content at any time.
    return .content(Content(stored, cacheControl: "private, no-cache"))
  }

  /// Checks the name before the body is read.
  func mayPut(_ context: RequestContext) throws -> Response? {
    let (richType, name) = try Self.path(context)
    try assets.requireName(richType, name, mayPublish: mayPublish(context))
    return nil
  }

  /// Whether the caller is the user in whose name dropped files are published; not an access token, whose recipients
  /// and rate a file beside another one would not heed.
  func mayPublish(_ context: RequestContext) -> Bool {
    context.caller.name == sender && context.caller.scope == nil
  }

  /// `PUT /api/assets/<richType>/<name>`: 201 for a new name, 200 for new content.
  ///
  /// A file that the plugin rejects changes nothing.
  func put(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    try checkPlugin(of: richType)
    return try await put(Self.file(context), richType, name, context)
  }

  /// `PATCH /api/assets/<richType>/<name>`: changes the alternative text, the focus and the labels.
  func patch(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    let amendment = try JSONCoding.request(AssetAmendment.self, from: context.body)
    do {
      let asset = try await assets.describe(
        richType, name, by: amendment, mayPublish: mayPublish(context),
        confirm: { [store] in try await store.requireCurrent(context.caller, context.login) })
      return .json(200, message(asset))
    } catch let error as ServiceError {
      throw await assets.explaining(error, richType, name)
    }
  }

  /// `POST /api/assets/<richType>/<name>/rename`: gives an asset another name, with what is said of it and what it had.
  func rename(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    let wanted = try JSONCoding.request(AssetRenaming.self, from: context.body).name
    guard let new = AssetName(wanted) else {
      let reason = AssetName.problem(with: wanted) ?? "It is not a file's name."
      throw ServiceError(.init("name", .rejected, reason))
    }
    do throws(ServiceError) {
      let asset = try await assets.rename(
        richType, name, to: new, mayPublish: mayPublish(context),
        confirm: { [store] in try await store.requireCurrent(context.caller, context.login) })
      return .json(200, message(asset), fields: ["Location": Self.location(richType, new)])
    } catch { throw await assets.explaining(error, richType, name) }
  }

  /// Checks the name before the body is read.
  func mayPost(_ context: RequestContext) throws -> Response? {
    let name = try Self.newName(context)
    guard !NotifySidecar.isName(name.value) else {
      let reason = "is named like a sidecar, which belongs to a file of a rich type: PUT it there."
      throw ServiceError(.rejected, "\(name.value.quoted) \(reason)")
    }
    try assets.requireName("", name, mayPublish: mayPublish(context))
    return nil
  }

  /// `POST /api/assets?name=<name>`: the same as `put`, with the rich type to which the file belongs by its content.
  func post(_ context: RequestContext) async throws -> Response {
    let name = try Self.newName(context)
    let file = try Self.file(context)
    return try await put(file, assets.richType(ofFileAt: file.path), name, context)
  }

  /// Puts a file into the drop folder; with `If-None-Match: *`, only if there is none of this name.
  private func put(
    _ file: SavedBody, _ richType: String, _ name: AssetName, _ context: RequestContext
  ) async throws -> Response {
    let fields: Fields = ["Location": Self.location(richType, name)]
    let isNew = try await store.assets.asset(richType, name.value) == nil
    do {
      let asset = try await assets.put(
        file.path, richType, name, mayPublish: mayPublish(context),
        mayReplace: context.request.fields["If-None-Match"] != "*",
        confirm: { [store] in try await store.requireCurrent(context.caller, context.login) })
      return .json(isNew ? 201 : 200, asset.message(), fields: fields)
    } catch {
      guard error.code == .preconditionFailed else { throw error }
      // It tells which asset there is: after a POST the client does not know the rich type.
      var response = error.response
      response.fields["Location"] = fields["Location"]
      return response
    }
  }

  private static func file(_ context: RequestContext) throws(ServiceError) -> SavedBody {
    if let file = context.file, file.size > 0 { return file }
    throw ServiceError(.invalidRequest, "The file is empty.")
  }

  /// The name in the query of an upload.
  private static func newName(_ context: RequestContext) throws(ServiceError) -> AssetName {
    guard let text = try context.query("name")["name"] else {
      throw ServiceError(.invalidRequest, "The query parameter name is missing: the file's name.")
    }
    if let name = AssetName(text) { return name }
    throw ServiceError(
      .invalidRequest, AssetName.problem(with: text) ?? "It is not a file's name.")
  }

  /// `DELETE /api/assets/<richType>/<name>`: removes the name; notifications keep its content.
  func delete(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    do throws(ServiceError) {
      try await assets.remove(richType, name, mayPublish: mayPublish(context))
    } catch { throw await assets.explaining(error, richType, name) }
    return .empty(204)
  }

  /// The asset as it is now.
  ///
  /// - Throws: `notFound`, with the name of one that looks alike.
  private func examine(
    _ richType: String, _ name: AssetName
  ) async throws(ServiceError) -> AssetRecord {
    do throws(ServiceError) { return try await assets.examine(richType, name).asset } catch {
      throw await assets.explaining(error, richType, name)
    }
  }

  /// The rich type and the name in the path.
  ///
  /// - Throws: `invalidRequest` if they cannot be an asset's.
  static func path(
    _ context: RequestContext
  ) throws(ServiceError) -> (richType: String, name: AssetName) {
    let text = context.parameters.dropFirst().first ?? ""
    guard let richType = try richType(context), let name = AssetName(text) else {
      throw ServiceError(
        .invalidRequest, AssetName.problem(with: text) ?? "It is not a file's name.")
    }
    return (richType, name)
  }

  /// Where an asset is.
  static func location(_ richType: String, _ name: AssetName) -> String {
    "/api/assets/\(richType)/\(PercentEncoding.encode(name.value))"
  }

  /// The rich type in the path, if there is one.
  static func richType(_ context: RequestContext) throws(ServiceError) -> String? {
    guard let richType = context.parameters.first else { return nil }
    guard Plugin.isValidName(richType) else {
      throw ServiceError(
        .invalidRequest, "\(richType.quoted) cannot be a rich type: [a-z][a-z0-9-]{0,31}.")
    }
    return richType
  }
}

extension [String: String] {
  /// The value that a query parameter names; nil if it is absent.
  fileprivate func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, _: Choice.Type
  ) throws(ServiceError) -> Choice? {
    guard let text = self[name] else { return nil }
    if let value = Choice(rawValue: text) { return value }
    let values = Choice.allCases.map(\.rawValue)
    throw ServiceError(
      .invalidRequest,
      "\(name) must be \(values.dropLast().joined(separator: ", ")) or \(values.last ?? "").")
  }
}

extension AssetRecord {
  /// The value of `after` for what comes after it.
  fileprivate func position(in order: AssetOrder?) -> String {
    let name = richType + "/" + name
    return switch order {
    case nil, .name: name
    case .newest, .oldest: "\(Int((modified.timeIntervalSince1970 * 1000).rounded()))/\(name)"
    case .largest, .smallest: "\(bytes)/\(name)"
    }
  }
}

extension AssetPosition {
  /// Reads the value of `after`; a text without a slash is a rich type, before all its names.
  fileprivate init(_ text: String, in order: AssetOrder?) {
    self.init(text, hasValue: order != nil && order != .name)
  }

  /// Reads the value of `after`, which begins with what is sorted by unless that is the name.
  init(_ text: String, hasValue: Bool) {
    var text = text[...]
    var value = 0
    if hasValue {
      value = Int(text.prefix { $0 != "/" }) ?? 0
      text = text.drop { $0 != "/" }.dropFirst()
    }
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(
      richType: String(parts[0]), name: parts.count == 2 ? String(parts[1]) : "", value: value)
  }
}
