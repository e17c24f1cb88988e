import COpenSSL
import Glibc
import Primitives

/// Storing large files in parts (multipart upload).
extension S3Client {
  /// Larger files are stored in parts of this size, in bytes.
  static let largestPart = 64 << 20

  /// Stores a file in parts; a failed upload leaves none of them.
  func putParts(
    _ key: String, _ file: FileDescriptor, _ size: Int
  ) async throws(S3Error) {
    var start = S3Request("POST", key)
    start.query = [("uploads", "")]
    guard let upload = XMLElements(try await send(start).body)["UploadId"] else {
      throw S3Error(.failed, "the object store has no identifier for an upload in parts")
    }
    do throws(S3Error) {
      var tags: [String] = []
      for offset in stride(from: 0, to: size, by: Self.largestPart) {
        let count = min(Self.largestPart, size - offset)
        var part = S3Request("PUT", key)
        part.query = [("partNumber", String(tags.count + 1)), ("uploadId", upload)]
        part.body = .file(file, offset: offset, count: count)
        part.digest = try Self.sha256(of: file, offset: offset, count: count)
        guard let tag = try await send(part).tag else {
          throw S3Error(.failed, "the object store has no tag for a part of an upload")
        }
        tags.append(tag)
      }
      try await complete(key, upload, tags)
    } catch {
      var abort = S3Request("DELETE", key)
      abort.query = [("uploadId", upload)]
      _ = try? await send(abort)
      throw error
    }
  }

  private func complete(
    _ key: String, _ upload: String, _ tags: [String]
  ) async throws(S3Error) {
    let parts = tags.enumerated().map { index, tag in
      "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(tag)</ETag></Part>"
    }
    let document = Array(
      ("<CompleteMultipartUpload>" + parts.joined() + "</CompleteMultipartUpload>").utf8)
    var request = S3Request("POST", key)
    request.query = [("uploadId", upload)]
    (request.body, request.digest) = (.bytes(document), S3Signature.sha256(document))
    let response = XMLElements(try await send(request).body)
    // The status is sent before the parts are joined, so a failure has status 200.
    if let code = response["Code"] {
      throw S3Error(.failed, "the object store could not join the parts of an upload (\(code))")
    }
  }

  private static func sha256(
    of file: FileDescriptor, offset: Int, count: Int
  ) throws(S3Error) -> String {
    // Read, not mapped: of a file that is truncated, or whose disk fails, a mapping would raise SIGBUS.
    var digits = [CChar](repeating: 0, count: 65)
    guard copenssl_sha256_hex_of_file(file.number, offset, count, &digits) else {
      throw S3Error(.file(errno), "a file of the content cannot be read: \(Errno.current)")
    }
    return String(decoding: digits.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
