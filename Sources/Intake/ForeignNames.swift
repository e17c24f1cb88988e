/// Names that other programs give to their own files and folders, which are no assets: everything that has one is
/// passed over in silence.
///
/// All of them are in lower case; case is ignored.
enum ForeignNames {
  /// Whether another program uses the name for itself.
  static func contains(_ text: String) -> Bool {
    let name = text.lowercased()
    if names.contains(name) || beginnings.contains(where: { name.hasPrefix($0) }) { return true }
    if endings.contains(where: { name.hasSuffix($0) }) { return true }
    let utf8 = name.utf8
    if let dot = utf8.lastIndex(of: UInt8(ascii: ".")) {
      let ending = utf8[utf8.index(after: dot)...]
      if extensions.contains(String(Substring(ending))) || isNumberOfCopy(ending) { return true }
    }
    return utf8.contains(UInt8(ascii: "-")) && parts.contains { name.contains($0) }
  }

  /// Parts with a `-`: macOS writes logo.png.sb-1a2b3c4d-XyZ123 and then renames it.
  private static let parts = [".sb-", ".part-frag"]

  private static let names: Set<String> = [
    // Windows
    "thumbs.db", "ehthumbs.db", "ehthumbs_vista.db", "desktop.ini", "zbthumbnail.info",
    "picasa.ini",
    "system volume information", "$recycle.bin", "recycler", "recycled",
    // macOS
    "icon\r", "__macosx", "network trash folder", "temporary items", "thevolumesettingsfolder",
    // Synology, QNAP, Linux, NetApp, vi
    "@eadir", "@tmp", "@sharebin", "@recycle", "@recently-snapshot", "@transcode", "lost+found",
    "~snapshot", "4913",
  ]

  private static let beginnings = [
    // Hidden files; Office; Emacs, and the folders #recycle and #snapshot
    ".", "~$", "#",
    // Netatalk's form of a dot at the beginning
    ":2e",
    "~syncthing~", "digikamtempfile.",
  ]

  private static let endings = [
    // Editors' copies
    "~", "___jb_tmp___", "___jb_old___",
    // Windows' and macOS's streams, as other file systems keep them; the colon may be a private character
    ":zone.identifier", "\u{F03A}zone.identifier", "\u{F022}zone.identifier", ":$data",
    ":afp_afpinfo", ":afp_resource", ":com.apple.quarantine", "@synoeastream", "@synoresource",
  ]

  /// What follows the last dot.
  private static let extensions: Set<String> = [
    // Editors
    "tmp", "temp", "swp", "swo", "swn", "swx", "bak", "wbk", "lock", "kate-swp", "autosave",
    // Browsers, and other programs that load files
    "part", "partial", "crdownload", "download", "opdownload", "fdmdownload", "aria2", "ytdl",
    "!ut",
    "ut!", "!qb", "!bt", "bc!", "az!", "jc!", "idm!", "bts", "xltd",
    // FTP and rsync
    "filepart", "duckpart", "rsync-partial", "lftp-pget-status",
    // Synchronization
    "drivedownload", "driveupload", "icloud", "!sync",
    // How to edit the picture beside it
    "aae", "xmp", "pp3", "dop",
  ]

  /// Whether an extension is the number of a copy, such as `~3` or ownCloud's `~1a2b`.
  private static func isNumberOfCopy(_ ending: Substring.UTF8View) -> Bool {
    guard ending.first == UInt8(ascii: "~"), (2...9).contains(ending.count) else { return false }
    return Substring(ending).dropFirst().allSatisfy(\.isHexDigit)
  }
}
