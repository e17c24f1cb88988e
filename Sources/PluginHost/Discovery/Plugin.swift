/// An installed plugin as it stands in its folder at this moment.
package final class Plugin: Sendable, Hashable {
  /// The rich type it handles, which is the name of its file or folder.
  package let richType: String
  /// What its `plugin.json` says; the defaults for a bare executable.
  package let manifest: Manifest
  /// The absolute path of its executable.
  package let executable: String
  /// What its first line says runs it, when it is a script: `#!/usr/bin/php-cgi` without the `#!`.
  package let interpreter: String?
  /// The folder it runs in.
  package let folder: String
  /// The files and folders it consists of.
  let roots: [String]
  /// The SHA-256 of everything it consists of, in hexadecimal; another one is another plugin.
  package let identity: String
  /// Why it cannot be used, in one sentence; nil when it can.
  package let problem: String?
  private let accepted: [MediaRange]
  private let produced: [MediaRange]

  init(
    richType: String, manifest: Manifest, executable: String, interpreter: String?,
    folder: String, roots: [String], identity: String, problem: String?
  ) {
    (self.richType, self.manifest, self.problem) = (richType, manifest, problem)
    (self.executable, self.interpreter) = (executable, interpreter)
    (self.folder, self.roots, self.identity) = (folder, roots, identity)
    accepted = manifest.accepts.compactMap { MediaRange($0) }
    produced = manifest.produces.compactMap { MediaRange($0) }
  }

  /// Whether both are the same version of the same plugin.
  package static func == (one: Plugin, other: Plugin) -> Bool {
    one === other
      || one.richType == other.richType && one.identity == other.identity
        && one.manifest == other.manifest && one.problem == other.problem
        && one.roots == other.roots
  }

  /// Adds what tells plugins apart.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(richType)
    hasher.combine(identity)
  }

  /// Whether a rich type can have this name: `[a-z][a-z0-9-]{0,31}`.
  package static func isName(_ name: String) -> Bool {
    let bytes = name.utf8
    guard let first = bytes.first, bytes.count <= 32, ("a"..."z").contains(Character(.init(first)))
    else { return false }
    return bytes.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
    }
  }

  /// Whether the plugin takes assets of a media type, by its `accepts`.
  package func accepts(_ mediaType: String) -> Bool {
    accepted.contains { $0.covers(mediaType) }
  }

  /// Whether the plugin may answer with a media type: one of its `produces`, and no active content.
  func produces(_ mediaType: String) -> Bool {
    !MediaRange.isActive(mediaType) && produced.contains { $0.covers(mediaType) }
  }
}
