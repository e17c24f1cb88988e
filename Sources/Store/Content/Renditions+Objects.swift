import Glibc
import Primitives

// With an object store, renditions are uploaded, so that other nodes find what one has rendered.
extension Renditions {
  /// Where the object store has a rendition that was made of a source.
  static func key(_ key: Digest, of source: Digest) -> String { prefix(of: source) + key.hex }

  /// What the keys of all renditions begin with that were made of a source.
  static func prefix(of source: Digest) -> String {
    "renditions/\(source.hex.prefix(2))/\(source.hex)/"
  }

  /// The name of a rendition in the object store; nil for what is not the store's.
  struct RemoteName {
    /// What it was made of; nil for a name that an earlier version gave.
    let source: Digest?

    init?(_ name: String) {
      let parts = name.split(separator: "/").map(String.init)
      let digests = parts.dropFirst(2).compactMap { Digest(hex: $0) }
      guard let key = digests.last else { return nil }
      source = digests.count == 2 ? digests[0] : nil
      let known =
        source.map { Renditions.key(key, of: $0) } ?? "renditions/\(key.hex.prefix(2))/\(key.hex)"
      if name != known { return nil }
    }
  }

  /// The bytes that are expected, for the deadline.
  private static let expectedSize = 1 << 20
  /// The most bytes of a rendition in the object store.
  private static let largest = 1 << 30

  /// The rendition of a source under a key from the object store, which is stored here as well; nil if that has none.
  package func fetch(_ key: Digest, of source: Digest) async throws(StoreError) -> Rendition? {
    guard let objects else { return nil }
    return try await fetches.run(key) { [self] () async throws(StoreError) in
      if let rendition = rendition(key) { return rendition }
      objects.count(\.renditionMisses)
      let seal = try await seal()
      let file = try TemporaryFile(in: folder)
      guard
        try await objects.get(
          Self.key(key, of: source), to: file.file.descriptor, size: Self.expectedSize,
          limit: Self.largest)
      else { return nil }
      return try await queue.run { [self] () throws(StoreError) in
        switch try RenditionObject.unpack(file.file, key: key, path: path(of: key), seal) {
        case .rendition(let rendition):
          return try publish(file.path, rendition, as: key).rendition
        case .unsealed: return nil
        case .damaged:
          objects.count(\.damaged)
          return nil
        }
      }
    }
  }

  /// Removes a rendition of erased content from this node and from the object store, also if its upload is under way.
  package func erase(_ key: Digest, of source: Digest) async throws(StoreError) {
    // In this order: an upload that ends after the second finds that it is not here any more.
    remove(key)
    try await objects?.delete(Self.key(key, of: source))
  }

  /// Uploads a new rendition; nobody waits for it.
  func startUpload(_ key: Digest) {
    guard let objects else { return }
    uploads.begin(key) { [self] in
      do {
        try await uploadQueue.withAdmission { await upload(key, to: objects) }.get()
      } catch { objects.count(\.dropped) }
    }
  }

  /// Calls a function once the object store has a rendition that was stored here, or will not get it.
  package func whenUploaded(_ key: Digest, _ body: @escaping @Sendable () -> Void) {
    uploads.whenEnded(key, body)
  }

  /// Uploads a rendition if it is still here, and other nodes may need it, which is not one for a single user; another
  /// render replaces one that fails.
  private func upload(_ key: Digest, to objects: ObjectStore) async {
    do throws(StoreError) {
      let seal = try await seal()
      let found = try await queue.run { [self] () throws(StoreError) in
        try self.packed(key, seal)
      }
      guard let (name, object) = found else { return }
      try await objects.put(
        name, file: object.file.file.descriptor, size: object.size, digest: object.digest)
      // What removes it from both may have been there before this.
      if storedHeader(key) == nil { try await objects.delete(name) }
    } catch { objects.count(\.dropped) }
  }

  /// A rendition as an object with its name; nil if it is not here, or not for other nodes.
  private func packed(
    _ key: Digest, _ seal: RenditionSeal
  ) throws(StoreError) -> (name: String, object: RenditionObject.Packed)? {
    guard let rendition = storedHeader(key), rendition.sources.count == 1 else { return nil }
    let object = try RenditionObject.pack(rendition, key: key, in: folder, seal)
    return (Self.key(key, of: rendition.sources[0]), object)
  }
}

/// A rendition as one object: its bytes, its header, the code of its seal, and the size of the header, `s` and seven
/// digits.
private enum RenditionObject {
  /// What an object is.
  enum Content {
    case rendition(Rendition)
    /// As versions without a seal wrote them; those had eight digits at the end.
    case unsealed
    /// Not what was stored.
    case damaged
  }

  /// An object's file, its size in bytes, and its SHA-256.
  typealias Packed = (file: TemporaryFile, size: Int, digest: Digest)

  private static let sizeLength = 8
  private static let largestHeader = 1 << 16

  /// Writes the object to a file.
  static func pack(
    _ rendition: Rendition, key: Digest, in folder: DataFolder, _ seal: RenditionSeal
  ) throws(StoreError) -> Packed {
    var object = try HashingWriter(in: folder)
    try StoreFile(rendition.path, O_RDONLY | O_NOFOLLOW).forEachChunk { chunk throws(StoreError) in
      try object.write(chunk)
    }
    let header = Array(rendition.header.utf8)
    try object.write(header)
    try object.write(seal.code(of: rendition.header, under: key))
    let size = String(header.count)
    let zeros = String(repeating: "0", count: sizeLength - 1 - size.utf8.count)
    try object.write(Array(("s" + zeros + size).utf8))
    return (object.target, object.size, object.digest())
  }

  /// Reads the header of what should be the rendition under a key, and leaves the bytes in the file.
  static func unpack(
    _ file: StoreFile, key: Digest, path: String, _ seal: RenditionSeal
  ) throws(StoreError) -> Content {
    let size = Int(try file.status().st_size) - sizeLength
    guard size >= 0 else { return .damaged }
    let end = try file.bytes(at: size, count: sizeLength)
    guard end.first == UInt8(ascii: "s"),
      let header = Int(String(decoding: end.dropFirst(), as: UTF8.self))
    else {
      return end.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? .unsealed : .damaged
    }
    let content = size - RenditionSeal.length - header
    guard content >= 0, 1...largestHeader ~= header else { return .damaged }
    let text = String(decoding: try file.bytes(at: content, count: header), as: UTF8.self)
    let code = try file.bytes(at: content + header, count: RenditionSeal.length)
    guard seal.isCode(code, of: text, under: key),
      let rendition = Rendition(path: path, header: text), rendition.size == content
    else { return .damaged }
    try file.truncate(to: content)
    return try file.digest() == rendition.digest ? .rendition(rendition) : .damaged
  }
}
