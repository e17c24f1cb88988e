import Glibc
package import Primitives
import Synchronization

/// An object in the store.
package struct S3Object: Sendable, Equatable {
  /// Its key, without the bucket's prefix.
  package let key: String
  /// Its size in bytes.
  package let size: Int
  /// When it was stored, in seconds since 1970, by the store's clock.
  package let modified: Int
}

/// A client of one bucket.
///
/// Content goes from and to files, so that memory is bounded.
/// A request that may succeed later is repeated until its deadline; then it throws `away`.
package final class S3Client: Sendable {
  package let bucket: S3Bucket
  private let credentials: S3Credentials
  private let authority: String?
  private let deadline: Duration
  private let clock: any SteadyClock
  private let idle = Mutex<[S3Connection]>([])
  private let threads = BlockingExecutor(threads: concurrency)

  /// Requests at once.
  private static let concurrency = 16
  /// A transfer may take this much longer for each of its bytes: 1 MB in a second.
  private static let timePerByte = Duration.microseconds(1)
  /// The pause before the first repetition; it doubles with each.
  private static let firstPause = Duration.milliseconds(100)

  /// A client that connects when it is used.
  ///
  /// `deadline` is for an answer without content; `authority` is a PEM file with certificates to trust besides
  /// the system's.
  package init(
    _ bucket: S3Bucket, _ credentials: S3Credentials, deadline: Duration = .seconds(10),
    authority: String? = nil, clock: any SteadyClock = ContinuousClock()
  ) {
    (self.bucket, self.credentials) = (bucket, credentials)
    (self.deadline, self.authority, self.clock) = (deadline, authority, clock)
  }

  /// Returns if the bucket can be read.
  package func probe() async throws(S3Error) {
    var request = S3Request("GET")
    request.query = [("list-type", "2"), ("max-keys", "1")]
    _ = try await send(request, until: clock.now + min(deadline, .seconds(3)))
  }

  /// Stores bytes.
  package func put(_ key: String, bytes: [UInt8]) async throws(S3Error) {
    var request = S3Request("PUT", key)
    (request.body, request.digest) = (.bytes(bytes), S3Signature.sha256(bytes))
    _ = try await send(request)
  }

  /// Stores a file with this SHA-256 in hexadecimal digits; a large one in parts.
  package func put(
    _ key: String, file: FileDescriptor, size: Int, sha256: String
  ) async throws(S3Error) {
    if size > Self.largestPart { return try await putParts(key, file, size) }
    var request = S3Request("PUT", key)
    (request.body, request.digest) = (.file(file, offset: 0, count: size), sha256)
    _ = try await send(request)
  }

  /// Writes an object to an empty file; false if there is none.
  ///
  /// An object of more than `limit` bytes throws `damaged`. `size` is about how many are expected, for the
  /// deadline. The content is not checked: who knows its SHA-256 compares it.
  package func get(
    _ key: String, to file: FileDescriptor, size: Int, limit: Int = .max
  ) async throws(S3Error) -> Bool {
    var request = S3Request("GET", key)
    (request.target, request.limit) = (file, limit)
    do throws(S3Error) {
      _ = try await send(request, until: clock.now + deadline + Self.timePerByte * size)
      return true
    } catch {
      if error.code == .noSuchKey { return false }
      throw error
    }
  }

  /// Size and time of an object, or nil if there is none.
  package func head(_ key: String) async throws(S3Error) -> S3Object? {
    do throws(S3Error) {
      let response = try await send(S3Request("HEAD", key))
      return S3Object(key: key, size: response.length ?? 0, modified: response.modified ?? 0)
    } catch {
      // A response to HEAD does not tell whether the bucket is missing.
      if error.code == .noSuchKey { return nil }
      throw error
    }
  }

  /// Removes an object; that there is none is no error.
  package func delete(_ key: String) async throws(S3Error) {
    do throws(S3Error) { _ = try await send(S3Request("DELETE", key)) } catch {
      if error.code != .noSuchKey { throw error }
    }
  }

  /// All objects whose keys begin with `prefix`.
  package func list(_ prefix: String) async throws(S3Error) -> [S3Object] {
    var (objects, token): ([S3Object], String?) = ([], nil)
    repeat {
      var request = S3Request("GET")
      request.query = [("list-type", "2"), ("prefix", bucket.prefix + prefix)]
      if let token { request.query.append(("continuation-token", token)) }
      let page = XMLElements(try await send(request).body)
      objects += page.elements("Contents").compactMap { element in
        guard let key = element["Key"], key.hasPrefix(bucket.prefix),
          let size = element["Size"].flatMap({ Int($0) }),
          let modified = element["LastModified"].flatMap(Self.seconds)
        else { return nil }
        return S3Object(
          key: String(key.dropFirst(bucket.prefix.count)), size: size, modified: modified)
      }
      token = page["IsTruncated"] == "true" ? page["NextContinuationToken"] : nil
    } while token != nil
    return objects
  }

  /// A time such as `2013-05-24T00:00:00.000Z`.
  private static func seconds(_ text: String) -> Int? {
    let numbers = text.split { !$0.isNumber }.prefix(6).compactMap { Int32($0) }
    guard numbers.count == 6 else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
    return timegm(&parts)
  }
}

// MARK: - Sending

extension S3Client {
  /// Sends a request until it has an answer that repeating would not change.
  @discardableResult
  func send(
    _ request: S3Request, until end: ContinuousClock.Instant? = nil
  ) async throws(S3Error) -> S3Response {
    let end = end ?? clock.now + deadline + Self.timePerByte * request.body.count
    var pause = Self.firstPause
    while true {
      let failure: S3Error
      do throws(S3Error) {
        let response = try await threads.run { () async throws(S3Error) in
          try await attempt(request, until: end)
        }
        guard let error = response.error(bucket) else { return response }
        guard response.isForeign else { throw error }
        failure = error
      } catch {
        guard error.code == .away else { throw error }
        failure = error
      }
      if Task.isCancelled || clock.now + pause >= end { throw failure }
      try? await clock.sleep(for: pause * Double.random(in: 0.5...1))
      pause *= 2
    }
  }

  /// Sends a request once; blocks.
  // Concurrent: else it would stay on its caller's thread, and block that.
  @concurrent private func attempt(
    _ request: S3Request, until end: ContinuousClock.Instant
  ) async throws(S3Error) -> S3Response {
    let timeout = end - clock.now
    guard timeout > .zero else {
      throw S3Error(.away, "the object store has no answer within the deadline")
    }
    if let target = request.target {
      // What an attempt before wrote, which was not all.
      guard ftruncate(target.number, 0) == 0, lseek(target.number, 0, SEEK_SET) == 0 else {
        throw S3Error(.file(errno), "a file of the content cannot be used: \(Errno.current)")
      }
    }
    guard let connection = idle.withLock({ $0.popLast() }) ?? S3Connection(authority: authority)
    else { throw S3Error(.failed, "libcurl could not be started") }
    let path = bucket.path(request.key)
    let query = S3Signature.query(request.query)
    let signature = S3Signature(
      credentials: credentials, region: bucket.region, time: S3Signature.time(time(nil)))
    var fields = [
      ("host", bucket.host), ("x-amz-content-sha256", request.digest),
      ("x-amz-date", signature.time),
    ]
    fields.append(
      (
        "authorization",
        signature.authorization(
          request.method, path, query: request.query, fields: fields, digest: request.digest)
      ))
    let response = try connection.send(
      request, to: bucket.endpoint + path + (query.isEmpty ? "" : "?\(query)"),
      fields: fields.map { "\($0.0): \($0.1)" } + ["expect:", "content-type:"], timeout: timeout)
    // After a failure the connection is not used again.
    idle.withLock { $0.append(connection) }
    return response
  }
}
