import Glibc

// With an object store, renditions are uploaded, so that other nodes find what one has rendered.
extension Renditions {
  /// Where the object store has a rendition.
  static func key(_ key: Digest) -> String { "renditions/\(key.hex.prefix(2))/\(key.hex)" }

  /// The bytes that are expected, for the deadline.
  private static let expectedSize = 1 << 20
  /// The most bytes of a rendition in the object store.
  private static let largest = 1 << 30

  /// The rendition under a key from the object store, which is stored here as well; nil if that has none.
  package func fetch(_ key: Digest) async throws(StoreError) -> Rendition? {
    guard let objects else { return nil }
    return try await fetches.run(key) { [self] () async throws(StoreError) in
      if let rendition = rendition(key) { return rendition }
      objects.count(\.renditionMisses)
      let file = try TemporaryFile(in: folder)
      guard
        try await objects.get(
          Self.key(key), to: file.file.descriptor, size: Self.expectedSize, limit: Self.largest)
      else { return nil }
      return try await queue.run { [self] () throws(StoreError) in
        guard let rendition = try RenditionObject.unpack(file.file, path: path(of: key)) else {
          objects.count(\.damaged)
          return nil
        }
        return try publish(file.path, rendition, as: key).rendition
      }
    }
  }

  /// Uploads a new rendition; nobody waits for it.
  func startUpload(_ key: Digest) {
    guard let objects else { return }
    let isAdded = uploads.add(key) { [self] key in await upload(key, to: objects) }
    if !isAdded { objects.count(\.dropped) }
  }

  /// Calls a function once the object store has a rendition that was stored here, or will not get it.
  package func whenUploaded(_ key: Digest, _ body: @escaping @Sendable () -> Void) {
    uploads.whenEnded(key, body)
  }

  /// Uploads a rendition if it is still here; another render replaces one that fails.
  private func upload(_ key: Digest, to objects: ObjectStore) async {
    do throws(StoreError) {
      let packed = try await queue.run { [self] () throws(StoreError) in
        try storedHeader(key).map { rendition throws(StoreError) in
          try RenditionObject.pack(rendition, in: folder)
        }
      }
      guard let packed else { return }
      try await objects.put(
        Self.key(key), file: packed.file.file.descriptor, size: packed.size, digest: packed.digest)
    } catch { objects.count(\.dropped) }
  }
}

/// A rendition as one object: its bytes, its header, and the size of the header in eight digits.
private enum RenditionObject {
  private static let digits = 8
  private static let largestHeader = 1 << 16

  /// Writes the object to a file.
  static func pack(
    _ rendition: Rendition, in folder: DataFolder
  ) throws(StoreError) -> (file: TemporaryFile, size: Int, digest: Digest) {
    var object = try HashingWriter(in: folder)
    try StoreFile(rendition.path, O_RDONLY | O_NOFOLLOW).forEachChunk { chunk throws(StoreError) in
      try object.write(chunk)
    }
    let header = Array(rendition.header.utf8)
    try object.write(header)
    let size = String(header.count)
    try object.write(Array((String(repeating: "0", count: digits - size.utf8.count) + size).utf8))
    return (object.target, object.size, object.digest())
  }

  /// Reads the header and leaves the bytes in the file; nil if the object is not what was stored.
  static func unpack(_ file: StoreFile, path: String) throws(StoreError) -> Rendition? {
    let size = Int(try file.status().st_size) - digits
    guard size >= 0,
      let header = Int(String(decoding: try file.bytes(at: size, count: digits), as: UTF8.self)),
      1...min(size, largestHeader) ~= header
    else { return nil }
    let text = String(
      decoding: try file.bytes(at: size - header, count: header), as: UTF8.self)
    guard let rendition = Rendition(path: path, header: text), rendition.size == size - header
    else { return nil }
    try file.truncate(to: rendition.size)
    return try file.digest() == rendition.digest ? rendition : nil
  }
}
