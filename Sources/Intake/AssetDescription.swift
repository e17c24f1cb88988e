import Media
import PluginHost
import Primitives
package import RichPushAPI
package import Store

/// What a file beside an asset's file says of it: `logo.png.describe.json` of `logo.png`.
///
/// It is the body of `PATCH /api/assets/<richType>/<name>` without `labels`, and holds as long as it is there.
struct AssetDescription {
  let alt: String?
  let focus: Asset.Focus?
  /// The labels of an asset that was removed; no file says them.
  var labels: [String] = []
  /// The state of the file that says it.
  let stamp: String

  private static let ending = ".describe.json"
  /// The size limit of the file, in bytes.
  private static let largest = 16 << 10

  /// The name of the file that describes another.
  static func name(for file: String) -> String { file + ending }

  /// The file that an entry describes; nil for any other name.
  static func file(for entry: FolderEntry) -> String? {
    guard entry.bytes.count > ending.utf8.count, entry.bytes.ends(with: ending) else { return nil }
    return String(validating: entry.bytes.dropLast(ending.utf8.count), as: UTF8.self)
  }

  /// Whether a name is a description's on some file system.
  static func isName(_ name: String) -> Bool {
    Array(NotifySidecar.folded(name).utf8).ends(with: ending)
  }

  /// What content of an asset said before it was replaced or removed.
  init(_ version: StoredAssetVersion) {
    (alt, focus) = (version.alt, version.focus.flatMap { Asset.Focus($0) })
    labels = version.labels
    stamp = ""
  }

  /// Reads a description.
  ///
  /// - Throws: `notFound` if there is none, and what is wrong with it.
  fileprivate init(
    _ folder: FileDescriptor, _ name: String, identity: String?
  ) throws(ServiceError) {
    let file = try AssetFile(folder: folder.number, name: name, identity: identity)
    guard file.size <= Self.largest else {
      throw ServiceError(.tooLarge, "It is larger than \(Self.largest) bytes.")
    }
    guard !file.isBeingWritten(closed: true) else { throw .incompleteFile }
    let content = try JSONCoding.request(
      AssetAmendment.self, from: file.prefix(Self.largest))
    if let error = ServiceError(content.faults) { throw error }
    guard content.labels == .none else {
      throw ServiceError(.rejected, "labels are set in the catalogue, not in a file.")
    }
    (alt, focus) = (content.alt.applied(to: nil), content.focus.applied(to: nil))
    stamp = file.stamp
  }
}

extension DropFolder {
  /// What the file beside an asset's file says of it; nil if there is none, or it is not valid.
  func description(_ richType: String, _ name: AssetName) -> AssetDescription? {
    guard let folder = try? openFolder(richType) else { return nil }
    let file = Self.spelling(of: AssetDescription.name(for: name.value), in: folder, richType)
    return try? AssetDescription(folder, file, identity: identity)
  }

  /// The stamp of the file that describes an asset, valid or not; nil if there is none.
  func descriptionStamp(_ richType: String, _ name: AssetName) -> String? {
    guard let folder = try? openFolder(richType) else { return nil }
    let file = Self.spelling(of: AssetDescription.name(for: name.value), in: folder, richType)
    return FolderEntry(Array(file.utf8)).stamp(in: folder, identity)
  }

  /// Why a description cannot be used; nil if it can, or is not there or complete.
  func problem(withDescription entry: FolderEntry, _ richType: String) -> String? {
    guard let folder = try? openFolder(richType), let name = entry.spelling else { return nil }
    do throws(ServiceError) {
      _ = try AssetDescription(folder, name, identity: identity)
      return nil
    } catch {
      guard ![.notFound, .incomplete].contains(error.code) else { return nil }
      let file = AssetDescription.file(for: entry) ?? name
      return "It does not describe \(file.quoted): \(error.reason)"
    }
  }
}

extension AssetRecord {
  /// What stands in front of the stamp of the file that describes an asset, in the asset's stamp.
  private static let mark = " +"

  /// The stamp of an asset with a file, a description and a plugin.
  static func stamp(_ file: String, described: String?, by plugin: String) -> String {
    file + (described.map { mark + $0 } ?? "") + " " + plugin
  }

  /// Whether a file says its alternative text and focus.
  var isDescribedByFile: Bool { stamp.contains(Self.mark) }

  /// Takes what a file says; without one, what was known, unless another file had said that.
  mutating func describe(
    by description: AssetDescription?, insteadOf known: AssetRecord?, _ plugin: Plugin
  ) {
    labels = known?.labels ?? description?.labels ?? []
    if let description {
      alt = description.alt
      focus = RenditionOptions.haveFocus(of: plugin) ? description.focus?.description : nil
      isDescribed = true
    } else if let known, known.isDescribedByFile {
      (alt, focus, isDescribed) = (nil, nil, true)
    } else if let known {
      keepDescription(of: known)
    }
    prepareAgain(insteadOf: known, plugin)
  }

  /// Has renditions made if it is usable and has another focus than what was known.
  mutating func prepareAgain(insteadOf known: AssetRecord?, _ plugin: Plugin) {
    let isOther = focus != known?.focus || focus != nil && blob != known?.blob
    guard state == .ready, isOther, plugin.manifest.isShared else { return }
    (state, reason) = (.preparing, nil)
  }
}

extension AssetIntake {
  /// Changes the alternative text, the focus and the labels of an asset; new notifications have the new text and
  /// focus.
  ///
  /// `mayPublish` tells whether it is changed by the user in whose name dropped files are published; `confirm` is
  /// called last before anything is stored.
  ///
  /// - Throws: `rejected` if it is not valid, `assetNotReady` if the asset is refused, `conflict` if a file says it.
  package func describe(
    _ richType: String, _ name: AssetName, by amendment: AssetAmendment, mayPublish: Bool,
    confirm: () async throws -> Void
  ) async throws -> AssetRecord {
    if let error = ServiceError(amendment.faults) { throw error }
    try requireChange(richType, name, mayPublish: mayPublish)
    // Another request, or another node, may change it at the same time.
    for _ in 0..<8 {
      let known = try await examine(richType, name).asset
      guard known.state != .refused, known.blob != nil else {
        throw ServiceError(.assetNotReady, known.reason ?? "The asset is not ready.")
      }
      let isSaid = amendment.alt != .none || amendment.focus != .none
      guard !known.isDescribedByFile || !isSaid else {
        let file = AssetDescription.name(for: name.value)
        throw ServiceError(
          .conflict, "\(file.quoted) beside the file says it: change or remove that one.")
      }
      let plugin = try validator.plugin(richType)
      if amendment.focus.applied(to: nil) != nil, !RenditionOptions.haveFocus(of: plugin) {
        let reason = "Nothing of the rich type \(richType.quoted) is cropped around a focus."
        throw ServiceError(.init("focus", .rejected, reason))
      }
      var asset = known
      asset.alt = amendment.alt.applied(to: known.alt)
      if amendment.focus != .none { asset.focus = amendment.focus.applied(to: nil)?.description }
      if amendment.labels != .none {
        asset.labels = Self.labels(amendment.labels.applied(to: nil) ?? [])
      }
      guard asset != known else { return known }
      asset.prepareAgain(insteadOf: known, plugin)
      try await confirm()
      let isChanged = try await ServiceError.mapping {
        try await store.assets.describe(asset, insteadOf: known, event: asset.event)
      }
      if isChanged { return asset }
    }
    throw ServiceError(.busy, "The asset is being changed by others.", retryAfter: 1)
  }

  /// Labels as the catalogue has them: in Unicode's composed form, without spaces around them, each once, sorted.
  package static func labels(_ texts: [String]) -> [String] {
    Set(texts.map { $0.trimming(\.isWhitespace).composed }).sorted()
  }
}

extension Sequence<UInt8> where Self: BidirectionalCollection {
  fileprivate func ends(with text: String) -> Bool {
    suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}
