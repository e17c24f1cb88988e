/// The sidecar files that make a dropped file a notification, by their names: `logo.png.notify.json` says
/// to whom it goes, `logo.png.notify.sent.json` or `logo.png.notify.error.txt` what happened.
package enum NotifySidecar {
  /// The sidecar that a person writes.
  package static func name(for file: String) -> String { file + ".notify.json" }
  /// What the server writes when the notification is stored.
  package static func sent(for file: String) -> String { file + ".notify.sent.json" }
  /// What the server writes when there is none.
  package static func error(for file: String) -> String { file + ".notify.error.txt" }
  /// In the publish folder: the sidecar of every file that has none of its own.
  package static let standard = "default.notify.json"

  /// The largest sidecar, in bytes.
  package static let largest = 64 << 10

  /// Why files are not sent where the operator has not enabled publishing.
  package static let isDisabled =
    "Publishing by dropping is off: the server's operator enables it with --publish-as."

  /// The file to which a sidecar or a result belongs; nil for any other name.
  package static func file(for entry: FolderEntry) -> String? {
    guard let name = entry.spelling else { return nil }
    return endings.first { name.hasSuffix($0) && name.utf8.count > $0.utf8.count }
      .map { String(name.dropLast($0.count)) }
  }

  private static let endings = [name(for: ""), sent(for: ""), error(for: "")]

  /// Whether the server writes files of this name.
  package static func isResult(_ entry: FolderEntry) -> Bool {
    guard let name = entry.spelling else { return false }
    return name.hasSuffix(sent(for: "")) || name.hasSuffix(error(for: ""))
  }
}
