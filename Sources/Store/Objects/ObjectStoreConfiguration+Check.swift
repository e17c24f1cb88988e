import CLinux
import Glibc
import Primitives
import S3

extension ObjectStoreConfiguration {
  /// Lists, writes, reads and removes an object of a few bytes, whose key begins with `check/`.
  ///
  /// A store that does not respond ends it after some seconds.
  /// - Throws: `failed` with a sentence that says which of these the bucket or the access key does not allow.
  package func check() async throws(StoreError) {
    let client = S3Client(
      bucket, credentials, deadline: deadline, authority: authority, clock: clock)
    let key = "check/" + .randomName()
    let bytes = Array("richpush config check\n".utf8)
    guard let copy = FileDescriptor(owning: clinux_memory_file("check")) else {
      throw StoreError(.failed, "no file in memory can be made: \(Errno.current)")
    }
    try await attempt("listed") { () async throws(S3Error) in try await client.probe() }
    try await attempt("written") { () async throws(S3Error) in
      try await client.put(key, bytes: bytes)
    }
    do throws(StoreError) {
      try await attempt("read") { () async throws(S3Error) in
        _ = try await client.get(key, to: copy, size: bytes.count, limit: bytes.count)
      }
      lseek(copy.number, 0, SEEK_SET)
      guard (try? copy.readAll(limit: bytes.count)) == bytes else {
        throw StoreError(.failed, "the bucket \(bucket.name) returns other bytes than it got")
      }
    } catch {
      try? await client.delete(key)
      throw error
    }
    try await attempt("removed") { () async throws(S3Error) in try await client.delete(key) }
  }

  private func attempt(
    _ verb: String, _ body: () async throws(S3Error) -> Void
  ) async throws(StoreError) {
    do throws(S3Error) { try await body() } catch {
      throw StoreError(
        .failed, "objects in the bucket \(bucket.name) cannot be \(verb): \(error.reason)")
    }
  }
}
