import Primitives

/// One version of an installed plugin.
package final class Plugin: Sendable, Hashable {
  /// The rich type it handles, which is the name of its file or folder.
  package let richType: String
  /// The content of its `plugin.json`; the defaults for a bare executable.
  package let manifest: Manifest
  /// The absolute path of its executable.
  package let executable: String
  /// The interpreter line of a script, without the `#!`: `/usr/bin/php-cgi`.
  package let interpreter: String?
  /// The folder it runs in.
  package let folder: String
  /// The files and folders it consists of.
  let roots: [String]
  /// The SHA-256 of everything it consists of, in hexadecimal.
  package let identity: String
  /// Why it cannot be used, in one sentence; nil if it can.
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

  package func hash(into hasher: inout Hasher) {
    hasher.combine(richType)
    hasher.combine(identity)
  }

  /// Whether a rich type can have this name: `[a-z][a-z0-9-]{0,31}`.
  package static func isValidName(_ name: String) -> Bool {
    guard let first = name.utf8.first, name.utf8.count <= 32, UInt8.lowercaseLetters ~= first else {
      return false
    }
    return name.utf8.allSatisfy { byte in
      UInt8.lowercaseLetters ~= byte || UInt8.digits ~= byte || byte == UInt8(ascii: "-")
    }
  }

  /// A problem in which paths are file names: callers do not learn where plugins are, which the log says.
  static func withoutFolders(_ problem: String) -> String {
    problem.split(separator: " ", omittingEmptySubsequences: false).map { word in
      word.hasPrefix("/") ? word.split(separator: "/").last ?? word : word
    }.joined(separator: " ")
  }

  /// Whether it takes content without a file: what its form asks for, or any text.
  package var takesLiteralContent: Bool { manifest.form != nil || accepts("text/plain") }

  /// Whether the manifest's `accepts` covers a media type.
  package func accepts(_ mediaType: String) -> Bool { accepted.contains { $0.covers(mediaType) } }

  /// Why a rendition must not have this media type, as the end of a sentence; nil if it may.
  func objection(to mediaType: String) -> String? {
    if MediaRange.isActive(mediaType) {
      return "its answer is \(mediaType); HTML, SVG, XML, style sheets and scripts are never served"
    }
    if MediaRange(MediaRange.essence(of: mediaType)) == nil {
      return "its Content-Type \(MalformedOutput.quoted(mediaType.utf8)) is no media type"
    }
    if produced.contains(where: { $0.covers(mediaType) }) { return nil }
    return "its answer is \(mediaType), which is not in \"produces\""
  }
}

/// A pattern of media types: `image/png`, `image/*` or `*/*` (RFC 9110 section 12.5.1).
struct MediaRange: Hashable {
  private let type: Substring
  private let subtype: Substring

  /// Parses a pattern without parameters; nil if it is malformed.
  init?(_ text: String) {
    let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy(\.isToken), parts[0] != "*" || parts[1] == "*" else {
      return nil
    }
    (type, subtype) = (parts[0], parts[1])
  }

  /// Whether the pattern matches a media type, with or without parameters.
  func covers(_ mediaType: String) -> Bool {
    guard let other = MediaRange(MediaRange.essence(of: mediaType)) else { return false }
    return (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
  }

  /// The type and subtype in lower case, without parameters.
  static func essence(of mediaType: String) -> String {
    let end = mediaType.utf8.firstIndex { "; \t".utf8.contains($0) } ?? mediaType.endIndex
    return mediaType[..<end].lowercased()
  }

  /// Whether a browser would run such a document, which is then never served as media.
  static func isActive(_ mediaType: String) -> Bool {
    let essence = essence(of: mediaType)
    return active.contains(essence) || essence.hasSuffix("+xml")
  }

  private static let active: Set<String> = [
    "text/html", "text/xml", "application/xml", "text/css", "text/javascript",
    "application/javascript", "application/x-javascript", "text/ecmascript",
    "application/ecmascript", "text/vbscript", "application/x-shockwave-flash",
    "application/x-httpd-php", "multipart/x-mixed-replace",
  ]
}

extension StringProtocol {
  /// Whether it is a token, such as the name of a header field (RFC 9110 section 5.6.2).
  var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenByte) }
}

extension UInt8 {
  /// The ASCII letters a to z.
  static let lowercaseLetters = UInt8(ascii: "a")...UInt8(ascii: "z")
  /// The ASCII digits.
  static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

  /// Whether a token may contain this byte (RFC 9110 section 5.6.2).
  var isTokenByte: Bool {
    isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }
}
