package import FoundationEssentials

/// A file of the drop folder, as the server knows it.
package struct Asset: Sendable, Equatable {
  /// How far an asset has come.
  package enum State: String, Sendable, Column, CaseIterable {
    /// Usable by name.
    case ready
    /// Usable by name too, once its content is known; its renditions are being made.
    case preparing
    /// Not usable; the reason says why.
    case refused
  }

  /// The rich type: the name of the folder it lies in.
  package var richType: String
  /// The name of the file.
  package var name: String
  /// How far it has come.
  package var state: State
  /// Why it is refused, or what its author should know.
  package var reason: String?
  /// The content; it must have been added to `Store.blobs`.
  package var blob: Digest?
  /// The sniffed media type.
  package var type: String?
  /// The size of the file in bytes.
  package var bytes: Int
  /// When the file was last changed.
  package var modified: Date
  /// What tells this content of the file from an earlier one without reading it (inode, times …).
  package var stamp: String
  /// What the plugin's `validate` said, as JSON text.
  package var details: String?
  /// When the server last had something new to say about it; set by the store.
  package fileprivate(set) var updated = Date(timeIntervalSince1970: 0)
  /// Another name of the same rich type that differs only in case; set by the store.
  package fileprivate(set) var twin: String?

  /// Describes a file; everything else can be set afterwards.
  package init(
    richType: String, name: String, state: State, bytes: Int, modified: Date, stamp: String
  ) {
    self.richType = richType
    self.name = name
    self.state = state
    self.bytes = bytes
    self.modified = modified
    self.stamp = stamp
  }
}

extension Asset {
  /// The columns of the table that say something by themselves.
  static let columns =
    "rich_type, name, state, reason, blob, bytes, type, details, stamp, modified, updated"
  /// What `init(_:)` reads, in its order.
  static let selection =
    columns + """
      , (SELECT twin.name FROM asset AS twin WHERE twin.rich_type = asset.rich_type
         AND twin.folded = asset.folded AND twin.name <> asset.name LIMIT 1)
      """

  /// A name as one who does not tell capital letters from small ones sees it.
  static func folded(_ name: String) -> String { name.lowercased() }

  init(_ row: inout Row) throws {
    richType = try row.next()
    name = try row.next()
    state = try row.next()
    reason = try row.next()
    blob = try row.next()
    bytes = try row.next()
    type = try row.next()
    details = try row.next()
    stamp = try row.next()
    modified = try row.next()
    updated = try row.next()
    twin = try row.next()
  }
}
