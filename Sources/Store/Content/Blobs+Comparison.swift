import Glibc

extension Blobs {
  /// Whether a blob's bytes are the first ones of a longer blob; blocks the calling thread.
  ///
  /// - Throws: why one of them cannot be read.
  package func isBeginning(_ blob: Blob, of longer: Blob) async throws -> Bool {
    guard blob.size < longer.size else { return false }
    for blob in [blob, longer] { try await fetch(blob.digest, size: blob.size) }
    let other = try StoreFile(path(of: longer.digest), O_RDONLY | O_NOFOLLOW)
    var (offset, isEqual) = (0, true)
    try StoreFile(path(of: blob.digest), O_RDONLY | O_NOFOLLOW).forEachChunk {
      chunk throws(StoreError) in
      if isEqual {
        isEqual = try other.bytes(at: offset, count: chunk.count).elementsEqual(chunk)
      }
      offset += chunk.count
    }
    return isEqual
  }
}
