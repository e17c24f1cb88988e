package import MediaTypes
import PluginHost
package import RichPushAPI

extension PayloadValidator {
  /// The rich type to which a file belongs by its content: `img` for a picture, `sound`, `video` for a film, `url` for
  /// a file with a link.
  ///
  /// A file that is none of these, or that these do not accept, belongs to the only other rich type whose plugin
  /// accepts it, if that does not accept every file.
  ///
  /// - Throws: `unsupportedType`, with what its owner can do.
  package func richType(of file: some ByteSource) throws(ServiceError) -> String {
    let type = MediaType.sniff(file)
    let kind = FileKind(file)
    let usual = Self.usualRichType(of: kind, type, file)
    let plugin = usual.flatMap { try? self.plugin($0) }
    if let plugin, plugin.accepts(type.value) { return plugin.richType }
    let others = plugins.filter {
      $0.accepts(type.value) && !$0.acceptsEverything
        && kind.isWanted(accepting: $0.manifest.accepts)
    }.map(\.richType).sorted()
    if others.count == 1 { return others[0] }
    let reason =
      if others.count > 1 {
        "This is \(kind.name), which may be of the rich types \(others.joined(separator: " and ")): name one."
      } else if let plugin {
        kind.refusal(accepting: plugin.manifest.accepts)
      } else if let usual {
        "This is \(kind.name), and this server has no plugin for it, which would be \(usual.quoted). "
          + "Ask its operator to install it."
      } else if kind.sort == .archive {
        kind.refusal(accepting: [])
      } else {
        "This is \(kind.name). Drop a picture, a sound, a film or a link."
      }
    throw ServiceError(.unsupportedType, reason)
  }

  /// The rich type that ships with richpush for files of a kind.
  private static func usualRichType(
    of kind: FileKind, _ type: MediaType, _ file: some ByteSource
  ) -> String? {
    switch kind.sort {
    case .picture, .drawing, .photo, .page, .document: "img"
    case .sound: "sound"
    case .film: "video"
    case .archive: nil
    case .text where type.value == "text/plain": isLink(file) ? "url" : nil
    case .webPage, .text, .program, .unknown:
      // A shortcut can be a property list, or a script on Linux.
      type.family == "text" || type.value == "application/x-plist" ? "url" : nil
    }
  }

  /// Whether text may be meant as a link, of which its plugin says what is wrong.
  ///
  /// Its first line, apart from comments, is one word, or begins a shortcut or JSON.
  private static func isLink(_ file: some ByteSource) -> Bool {
    let head = String(decoding: file.read(at: 0, count: MediaType.prefixLength), as: UTF8.self)
    let lines = head.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.split(whereSeparator: \.isNewline)
    guard let first = lines.first(where: { !$0.hasPrefix("#") }) else { return false }
    return first.hasPrefix("[") || first.hasPrefix("{")
      || first.split(whereSeparator: \.isWhitespace).count == 1
  }
}

extension Plugin {
  /// Whether it accepts files of any type, so that it is for none in particular.
  fileprivate var acceptsEverything: Bool { accepts("x/x") }
}
