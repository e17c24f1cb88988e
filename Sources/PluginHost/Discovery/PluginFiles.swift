import Glibc
import Primitives

/// The files that a plugin consists of, with a hash of them all.
struct PluginFiles {
  /// The stamps of every file and folder, so that any change is noticed.
  let stamps: [FileStamp]
  /// The SHA-256 of names, modes and contents, in hexadecimal.
  let identity: String

  /// Larger folders would stall the server while they are read.
  private static let maximumCount = 4096

  /// Reads a plugin's files.
  ///
  /// - Parameter roots: Its folder or its bare executable, and an executable in another folder.
  /// - Throws: ``PluginProblem`` if there are too many files, or one cannot be read.
  init(roots: [String]) throws(PluginProblem) {
    var stamps: [FileStamp] = []
    var lines: [String] = []
    for root in roots {
      for stamp in FileTree(root) {
        stamps.append(stamp)
        try PluginProblem.require(
          stamps.count <= Self.maximumCount, "it has more than \(Self.maximumCount) files")
        guard stamp.isRegularFile else { continue }
        guard let digest = SHA256.hex(ofFile: stamp.path) else {
          throw PluginProblem("\(stamp.path) cannot be read")
        }
        lines.append("\(stamp.path.dropFirst(root.utf8.count)) \(stamp.mode) \(digest)")
      }
    }
    self.stamps = stamps
    identity = SHA256.hex(of: lines.sorted().joined(separator: "\n"))
  }

  /// The names in a plugin's folder, without hidden files (editors' copies), Python's compiled ones, and those
  /// that dpkg is unpacking, which nobody may read yet.
  static func names(in folder: String) -> [String] {
    FolderListing.texts(in: folder).filter {
      !$0.hasPrefix(".") && $0 != "__pycache__" && !$0.hasSuffix(".dpkg-new")
        && !$0.hasSuffix(".dpkg-tmp")
    }
  }
}

/// The stamps of a file, or of a plugin's folder and everything in it, read one by one.
struct FileTree: Sequence, IteratorProtocol {
  private var pending: [String]

  init(_ root: String) { pending = [root] }

  mutating func next() -> FileStamp? {
    while let path = pending.popLast() {
      guard let stamp = FileStamp(path) else { continue }
      if stamp.isFolder { pending += PluginFiles.names(in: path).map { "\(path)/\($0)" } }
      return stamp
    }
    return nil
  }
}

/// Who else can change a plugin: through its files, the hidden ones included, and the folders on the way to
/// them.
struct PluginAccess {
  /// The folders on the way to the files, with their modes.
  private let modes: [String: mode_t]
  /// The stamps of files and folders that are not in ``PluginFiles``.
  let hidden: [FileStamp]
  /// The first file or folder through which every user can change the plugin.
  let firstWorldWritable: String?

  /// Looks at the plugin's files.
  init(of files: PluginFiles, roots: [String]) {
    var open = files.stamps.first(where: \.isWorldWritable)?.path
    var parents = Set(files.stamps.map(\.parent))
    let known = Set(files.stamps.map(\.path))
    var hidden: [FileStamp] = []
    var pending = roots
    while let path = pending.popLast() {
      guard let stamp = FileStamp(path) else { continue }
      if stamp.isWorldWritable { open = open ?? path }
      if !known.contains(path) { hidden.append(stamp) }
      let (isRoot, isLink) = (roots.contains(path), FileStamp.isLink(path))
      parents.insert(stamp.parent)
      if isRoot || isLink { parents.insert(path.realPath.parentPath) }
      // Python runs what is in __pycache__ instead of the source it was compiled from.
      if stamp.isFolder, isRoot || !isLink {
        pending += FolderListing.texts(in: path).map { "\(path)/\($0)" }
      }
    }
    var modes: [String: mode_t] = [:]
    for parent in parents.sorted() {
      var folder = parent
      while modes[folder] == nil, let stamp = FileStamp(folder) {
        modes[folder] = stamp.mode
        // Where a folder is sticky, others can add to it, but replace nothing that is on the way.
        let isOpen = stamp.isWorldWritable && (folder == parent || stamp.mode & S_ISVTX == 0)
        if isOpen { open = open ?? folder }
        folder = folder.parentPath
      }
    }
    (self.modes, self.hidden, firstWorldWritable) = (modes, hidden, open)
  }

  /// Whether the folders have the same modes as before, and the hidden files are the same.
  var isCurrent: Bool {
    modes.allSatisfy { FileStamp($0.key)?.mode == $0.value } && hidden.allSatisfy(\.isCurrent)
  }
}

/// What runs a plugin's executable, according to its first bytes.
struct Interpreter {
  /// The first line of a script without its `#!`: `/usr/bin/php-cgi`; nil for a program.
  let line: String?
  /// Why the kernel will not start it, in one sentence; nil if nothing is wrong.
  let problem: String?

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// The kernel reads no more of a first line (BINPRM_BUF_SIZE).
  private static let longestLine = 256

  /// Reads the beginning of an executable, which will run in `folder`.
  init(of executable: String, in folder: String) {
    let file = try? FileDescriptor(executable, O_RDONLY | O_NONBLOCK)
    let start = try? file?.readSome(limit: Self.longestLine)
    guard let start, start.starts(with: "#!".utf8) else {
      line = nil
      problem = start.flatMap(Self.problem(ofProgram:))
      return
    }
    let first = start.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    line = String(decoding: first, as: UTF8.self)
    problem = line.flatMap { Self.problem(with: $0, in: folder) }
  }

  private static func problem(ofProgram start: [UInt8]) -> String? {
    if start.starts(with: byteOrderMark) {
      return "its file begins with a byte order mark: save it without one"
    }
    return start.contains(0)
      ? nil : "its file is text, and the first line does not begin with #! and an interpreter"
  }

  private static func problem(with line: String, in folder: String) -> String? {
    if line.utf8.last == UInt8(ascii: "\r") {
      return
        "its first line ends in CR, which the kernel takes for part of the interpreter's name: "
        + "save it with Unix line ends"
    }
    let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
    guard let program = words.first else { return "its first line names no interpreter after #!" }
    guard isProgram(program.hasPrefix("/") ? program : "\(folder)/\(program)") else {
      return "its interpreter \(program) is not there: correct the first line, or install it"
    }
    guard program.hasSuffix("/env") else { return nil }
    let names = words.dropFirst().drop { $0 == "-S" || $0.contains("=") }
    guard let name = names.first, !name.hasPrefix("-"), !name.contains("/") else { return nil }
    let path = PluginConfiguration.searchPath
    if path.contains(where: { isProgram("\($0)/\(name)") }) { return nil }
    return
      "its interpreter \(name) is not in \(path.joined(separator: ", ")), where plugins look: "
      + "correct the first line, or install it"
  }

  private static func isProgram(_ path: String) -> Bool { FileStamp(path)?.isExecutable == true }
}
