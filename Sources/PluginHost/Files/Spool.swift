import Glibc

/// Bytes of unknown number on their way: in memory while few, in a file beyond that.
struct Spool {
  /// Up to here an answer stays in memory.
  static let mostInMemory = 1 << 20

  private(set) var bytes: [UInt8] = []
  private(set) var file: SpooledFile?
  private var writer: Descriptor?
  private let limit: Int
  private let folder: String

  init(limit: Int, folder: String) {
    self.limit = limit
    self.folder = folder
  }

  var count: Int { file?.size ?? bytes.count }

  mutating func append(_ piece: UnsafeRawBufferPointer) throws(Malformation) {
    guard count + piece.count <= limit else {
      throw Malformation("its answer has more than the \(limit >> 20) MiB it may have")
    }
    if file == nil, bytes.count + piece.count <= Spool.mostInMemory {
      bytes += piece
      return
    }
    if file == nil { try moveToFile() }
    guard let file, let writer, writer.write(piece) else { throw Spool.unwritable }
    self.file = SpooledFile(path: file.path, size: file.size + piece.count, owner: file.owner)
  }

  private mutating func moveToFile() throws(Malformation) {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    let path = "\(folder)/answer-\(name)"
    writer = Descriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600))
    file = SpooledFile(path: path, size: bytes.count)
    guard let writer, bytes.withUnsafeBytes(writer.write) else { throw Spool.unwritable }
    bytes = []
  }

  private static let unwritable = Malformation("its answer cannot be spooled (is the disk full?)")
}
