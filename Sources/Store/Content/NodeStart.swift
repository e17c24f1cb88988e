import Glibc

/// One start of the server in a data folder: the owner of the leases that it takes.
///
/// The file `node` in the folder has the node's id, the number of its starts, and a digest of the machine and
/// of the file's inode. In a copy of the folder the digest differs, and the copy becomes a node of its own.
struct NodeStart: Sendable {
  /// The node's id, the same at every start.
  let node: String
  /// Counts the starts, from 1.
  let number: Int

  /// The owner of the leases of this start.
  var owner: String { Self.prefix(of: node) + String(number) }

  /// What the owners of all starts of a node begin with.
  static func prefix(of node: String) -> String { node + "." }

  /// Counts a start, as the process that has locked the folder.
  ///
  /// The server also starts if the file can't be written, such as on a full disk. A new node's leases then
  /// end only when their time is over.
  init(in folder: DataFolder) {
    let path = Self.path(in: folder)
    let last = Self.last(in: folder)
    node = last?.node ?? String(UInt128.random(in: .min ... .max), radix: 16)
    number = (last?.number ?? 0) + 1
    try? write(path, in: folder)
  }

  /// The id of the node that was last started in a folder; nil if there is none.
  static func node(of folder: DataFolder) -> String? { last(in: folder)?.node }

  private static func path(in folder: DataFolder) -> String { "\(folder.path)/node" }

  private static func last(in folder: DataFolder) -> NodeStart? {
    (try? StoreFile(path(in: folder), O_RDONLY | O_NOFOLLOW)).flatMap(NodeStart.init(from:))
  }

  /// Nil if the file is damaged or a copy.
  private init?(from file: StoreFile) {
    guard let words = try? file.text(limit: 1024).split(whereSeparator: \.isWhitespace),
      words.count == 3, let number = Int(words[1]),
      let mark = try? Self.mark(of: file), words[2] == mark.hex
    else { return nil }
    (node, self.number) = (String(words[0]), number)
  }

  /// Whether a text is that of the file, of any node.
  static func isFile(_ text: String) -> Bool {
    let words = text.split(whereSeparator: \.isWhitespace)
    return words.count == 3 && UInt128(words[0], radix: 16) != nil && Int(words[1]) != nil
      && Digest(hex: words[2]) != nil
  }

  private func write(_ path: String, in folder: DataFolder) throws(StoreError) {
    let new = try TemporaryFile(in: folder)
    let text = "\(node) \(number) \(try Self.mark(of: new.file))\n"
    try Array(text.utf8).span.bytes.withUnsafeBytes { bytes throws(StoreError) in
      try new.file.write(bytes)
    }
    try new.file.synchronize()
    try new.rename(to: path)
    try FileSystem.synchronizeParent(of: path)
  }

  /// Differs between a file and its copies, on this machine and (machine-id(5)) on others.
  private static func mark(of file: StoreFile) throws(StoreError) -> Digest {
    let machine = try? StoreFile("/etc/machine-id", O_RDONLY).text(limit: 64)
    return Digest(of: "\(machine ?? "") \(try file.status().st_ino)")
  }
}
