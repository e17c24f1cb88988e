import Glibc
import Media

/// The names of sidecars, which make a dropped file a notification: `logo.png.notify.json` contains the
/// recipients, `logo.png.notify.sent.json` or `logo.png.notify.error.txt` the result.
package enum NotifySidecar {
  /// The sidecar that a person writes.
  package static func name(for file: String) -> String { file + ".notify.json" }
  /// The result after the notification was created.
  package static func sent(for file: String) -> String { file + ".notify.sent.json" }
  /// The result if no notification was created.
  package static func error(for file: String) -> String { file + ".notify.error.txt" }
  /// In the publish folder: the sidecar of every file without one.
  package static let standard = "default.notify.json"

  /// The size limit of sidecars and results, in bytes.
  package static let largest = 64 << 10

  /// Why files are not sent where the operator has not enabled publishing.
  package static let isDisabled =
    "Publishing dropped files is disabled; the server's operator can enable it with --publish-as."

  /// The file to which a sidecar or a result belongs; nil for any other name.
  package static func file(for entry: FolderEntry) -> String? {
    endings.first { entry.bytes.count > $0.utf8.count && ends(entry.bytes, with: $0) }
      .flatMap { String(validating: entry.bytes.dropLast($0.utf8.count), as: UTF8.self) }
  }

  private static let endings = [name(for: ""), sent(for: ""), error(for: "")]

  /// Whether the server writes files with this name.
  package static func isResult(_ entry: FolderEntry) -> Bool {
    ends(entry.bytes, with: sent(for: "")) || ends(entry.bytes, with: error(for: ""))
  }

  /// Whether a name is a sidecar's or a result's on some file system: many ignore case, Unicode's forms and
  /// invisible characters, or dots and spaces at the end.
  package static func isName(_ name: String) -> Bool {
    let folded = Array(folded(name).utf8)
    return endings.contains { ends(folded, with: $0) }
  }

  /// Compares bytes, as file systems do: a character before the ending can combine with its dot.
  private static func ends(_ name: [UInt8], with ending: String) -> Bool {
    name.suffix(ending.utf8.count).elementsEqual(ending.utf8)
  }

  /// A name without what some file systems ignore.
  static func folded(_ name: String) -> String {
    var folded =
      name.isPrintableASCII
      ? name.lowercased()[...]
      : name.composed.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        .map { $0.properties.uppercaseMapping.lowercased() }.joined()[...]
    while folded.last == "." || folded.last == " " { folded.removeLast() }
    return String(folded)
  }
}

extension DropFolder {
  /// Whether a file of this name makes the server publish in its sender's name, or tells what it has published.
  package func publishes(_ richType: String, _ name: AssetName) -> Bool {
    richType == Self.publishFolderName || NotifySidecar.isName(name.value)
  }

  /// Whether there is a sidecar with which the server publishes the file of this name, now or when it changes.
  func hasSidecar(_ richType: String, _ name: AssetName) -> Bool {
    let sidecar = NotifySidecar.name(for: name.value)
    return stamp(richType, named: names(richType, for: [sidecar]).spelling(of: sidecar)) != nil
  }
}
