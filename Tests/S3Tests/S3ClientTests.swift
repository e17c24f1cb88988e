import Foundation
import Glibc
import Primitives
import StandIns
import Testing
import Waiting

@testable import S3

/// The client against a stand-in whose answers go wrong; `RealObjectStoreSystemTests` have a real one.
@Suite(.timeLimit(.minutes(1))) struct S3ClientTests {
  private let store: ObjectStandIn
  private let client: S3Client
  private let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

  init() throws {
    store = try ObjectStandIn()
    client = try Self.client(store.url)
  }

  /// The deadline is longer than a busy machine takes.
  private static func client(
    _ url: String, deadline: Duration = .seconds(20), clock: any SteadyClock = ContinuousClock()
  ) throws -> S3Client {
    S3Client(
      try S3Bucket(url), S3Credentials(accessKey: "rich:push", secret: "hidden"),
      deadline: deadline, clock: clock)
  }

  /// Requests that are to fail because the store is silent, after 300 ms.
  private func impatient() throws -> S3Client {
    try Self.client(store.url, deadline: .milliseconds(300))
  }

  /// Expects that something ends in time, the first, second or third time: the machine may hold up one.
  private func expect(within limit: Duration, _ body: () async throws -> Void) async rethrows {
    var shortest = Duration.seconds(3600)
    for _ in 0..<3 where shortest >= limit {
      let start = ContinuousClock.now
      try await body()
      shortest = min(shortest, .now - start)
    }
    #expect(shortest < limit)
  }

  /// A file that has no name any more.
  private func file(_ bytes: Data = Data()) throws -> FileDescriptor {
    let path = "\(NSTemporaryDirectory())/richpush-s3-\(UUID().uuidString)"
    try bytes.write(to: URL(filePath: path))
    defer { unlink(path) }
    return try FileDescriptor(path, O_RDWR)
  }

  private func bytes(of file: FileDescriptor) throws -> Data {
    lseek(file.number, 0, SEEK_SET)
    return Data(try file.readAll(limit: .max / 2))
  }

  private func put(_ content: Data) async throws {
    try await client.put(
      "a/b", file: file(content), size: content.count, sha256: S3Signature.sha256(Array(content)))
  }

  private func get() async throws -> Data? {
    let target = try file()
    return try await client.get("a/b", to: target, size: 0) ? bytes(of: target) : nil
  }

  @Test func `stores, reads, lists and removes objects`() async throws {
    try await put(content)
    let sent = try #require(store.received.first)
    #expect(sent.fields["x-amz-content-sha256"] == S3Signature.sha256(Array(content)))
    #expect(sent.fields["authorization"]?.contains("Credential=rich:push/") == true)
    #expect(sent.fields.values.allSatisfy { !$0.contains("hidden") } && sent.body == content)
    #expect(try await get() == content)
    let object = try #require(try await client.head("a/b"))
    #expect(object.size == content.count && abs(object.modified - time(nil)) < 60)
    for key in ["a/c", "a/d", "a/e", "x"] { try await client.put(key, bytes: [1]) }
    let listed = try await client.list("a/")
    #expect(listed.map(\.key) == ["a/b", "a/c", "a/d", "a/e"] && listed[1].size == 1)
    #expect(abs(listed[0].modified - time(nil)) < 60)
    try await client.delete("a/b")
    try await client.delete("a/b")
    #expect(try await get() == nil)
    #expect(try await client.head("a/b") == nil)
    try await client.probe()
  }

  @Test func `repeats what fails for a while`() async throws {
    store.fail { request, count in
      count < 3 ? (request.method == "PUT" ? .status(503, "SlowDown") : .truncated(1000)) : nil
    }
    try await put(content)
    #expect(try await get() == content)
    store.forget()
    store.fail { _, count in count == 1 ? .lostAnswer : nil }
    try await put(content)
    #expect(store.bytes("a/b") == content)
  }

  @Test func `gives up at its deadline`() async throws {
    store.fail { _, _ in .silence }
    let client = try impatient()
    await expect(within: .seconds(2)) {
      let error = await #expect(throws: S3Error.self) { try await client.head("a") }
      #expect(error?.code == .away)
    }
    store.fail { _, _ in .status(500, "InternalError") }
    let clock = ManualClock()
    let start = clock.now
    await clock.withoutWaiting {
      for url in [store.url, "s3://bucket?endpoint=http://127.0.0.1:1"] {
        let error = await #expect(throws: S3Error.self) {
          try await Self.client(url, clock: clock).head("a")
        }
        #expect(error?.code == .away)
      }
    }
    #expect((.seconds(10)...(.seconds(40))).contains(clock.now - start))
  }

  @Test func `answers all that wait behind a silent store by the deadline`() async throws {
    store.fail { _, _ in .silence }
    let client = try impatient()
    await expect(within: .seconds(4)) {
      await withDiscardingTaskGroup { group in
        for number in 0..<100 {
          group.addTask {
            await #expect(throws: S3Error.self) { try await client.head("\(number)") }
          }
        }
      }
    }
  }

  @Test(arguments: [
    (403, "SignatureDoesNotMatch", S3Error.Code.refused), (404, "NoSuchBucket", .noSuchBucket),
    (403, "RequestTimeTooSkewed", .refused), (400, "BadDigest", .damaged),
    (501, "NotImplemented", .failed),
  ])
  func `tells at once what repeating does not mend`(
    status: Int, code: String, expected: S3Error.Code
  ) async throws {
    store.fail { _, _ in .status(status, code) }
    let error = await #expect(throws: S3Error.self) { try await put(content) }
    #expect(error?.code == expected && store.received.count == 1)
    #expect(error?.reason.contains("hidden") == false)
  }

  @Test func `stores large files in parts`() async throws {
    let large = Data(count: S3Client.largestPart) + content
    store.fail { request, count in
      request.method == "PUT" && count == 1 ? .status(500, "InternalError") : nil
    }
    try await put(large)
    #expect(store.bytes("a/b") == large)
    let parts = store.received.filter { $0.target.contains("partNumber=2") }
    #expect(parts.last?.fields["x-amz-content-sha256"] == S3Signature.sha256(Array(content)))
  }

  @Test func `fails for a file that has become shorter, and leaves no part of it`() async throws {
    let file = try file(content)
    let error = await #expect(throws: S3Error.self) {
      try await client.put("a/b", file: file, size: S3Client.largestPart + 1, sha256: "")
    }
    #expect(error?.code == .file(EIO))
    let last = try #require(store.received.last)
    #expect(last.method == "DELETE" && last.target.contains("uploadId=an%26id"))
  }

  @Test func `leaves no part of a failed upload`() async throws {
    store.fail { request, _ in
      request.target.contains("partNumber=2") ? .status(403, "AccessDenied") : nil
    }
    let error = await #expect(throws: S3Error.self) {
      try await put(Data(count: S3Client.largestPart + 1))
    }
    #expect(error?.code == .refused)
    let last = try #require(store.received.last)
    #expect(last.method == "DELETE" && last.target.contains("uploadId=an%26id"))
  }

  @Test func `parts that the store answers 200 to, but could not join, are no object`() async throws
  {
    store.fail { request, _ in
      request.method == "POST" && request.target.contains("uploadId")
        ? .status(200, "InternalError") : nil
    }
    let error = await #expect(throws: S3Error.self) {
      try await put(Data(count: S3Client.largestPart + 1))
    }
    #expect(error?.code == .failed && store.bytes("a/b") == nil)
  }

  @Test func `writes no more of an object than was asked for`() async throws {
    try await put(content)
    let target = try file()
    let error = await #expect(throws: S3Error.self) {
      _ = try await client.get("a/b", to: target, size: 0, limit: 1000)
    }
    #expect(error?.code == .damaged && store.received.count == 2)
    #expect(try target.status().st_size <= 1000)
  }

  @Test func `says that the disk is full`() async throws {
    try await put(content)
    let full = try FileDescriptor("/dev/full", O_WRONLY)
    let error = await #expect(throws: S3Error.self) {
      _ = try await client.get("a/b", to: full, size: 0)
    }
    // Either cannot be emptied or cannot be written to.
    guard case .file = error?.code else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
