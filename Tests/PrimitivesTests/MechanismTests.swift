import Glibc
import Primitives
import Synchronization
import Testing
import Waiting

@Suite(.timeLimit(.minutes(1))) struct KeyedSemaphoreTests {
  @Test func `runs one operation for each key at a time`() async {
    let semaphore = KeyedSemaphore<String>()
    let load = Load()
    await withDiscardingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          await semaphore.withPermit("a") {
            load.enter()
            await Task.yield()
            load.leave()
          }
        }
      }
    }
    #expect(load.most == 1 && load.total == 20)
    #expect(semaphore.count == 0)
  }

  @Test func `operations with different keys do not wait for each other`() async {
    let semaphore = KeyedSemaphore<Int>()
    await semaphore.withPermit(1) {
      await semaphore.withPermit(2) { #expect(semaphore.count == 2) }
    }
    #expect(semaphore.count == 0)
  }

  @Test(arguments: [(2, nil), (1, 2)] as [(Int, Int?)])
  func `admits as many as it, or the call, is wide`(width: Int, ofCall: Int?) async throws {
    let semaphore = KeyedSemaphore<Int>(width: width)
    let hasRun = Flag()
    await semaphore.withPermit(1, width: ofCall) {
      let inner = Task { await semaphore.withPermit(1, width: ofCall) { hasRun.set() } }
      try? await eventually("the second is admitted") { hasRun.isSet }
      inner.cancel()
    }
  }

  @Test func `admits those who wait in the order of their arrival`() async throws {
    let semaphore = KeyedSemaphore<Int>()
    let order = Recorder()
    let arrivals = Load()
    let waiters = await semaphore.withPermit(1) {
      var waiters: [Task<Void, Never>] = []
      for number in 1...3 {
        waiters.append(
          Task.immediate {
            arrivals.enter()
            await semaphore.withPermit(1) { order.append(number) }
          })
        #expect(arrivals.total == number)
      }
      return waiters
    }
    for waiter in waiters { await waiter.value }
    #expect(order.values == [1, 2, 3])
  }
}

/// Whether something has happened.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { value.store(true, ordering: .releasing) }
}

/// Counts what runs at once.
private final class Load: Sendable {
  private let counts = Mutex((running: 0, most: 0, total: 0))

  var most: Int { counts.withLock { $0.most } }
  var total: Int { counts.withLock { $0.total } }
  var running: Int { counts.withLock { $0.running } }

  func enter() {
    counts.withLock { counts in
      counts.running += 1
      counts.total += 1
      counts.most = max(counts.most, counts.running)
    }
  }

  func leave() { counts.withLock { $0.running -= 1 } }
}

@Suite(.timeLimit(.minutes(1))) struct WakeSignalTests {
  @Test func `after a wait that was cancelled, the next one waits again`() async throws {
    let signal = WakeSignal()
    for _ in 0..<100 {
      let first = Task { await signal.wait() }
      first.cancel()
      await first.value
    }
    let turns = Mutex(0)
    let loop = Task {
      while !Task.isCancelled {
        await signal.wait()
        turns.withLock { $0 += 1 }
      }
    }
    signal.send()
    try await eventually("the loop has a turn") { turns.withLock { $0 == 1 } }
    for _ in 0..<1000 { await Task.yield() }
    #expect(turns.withLock { $0 } == 1)
    loop.cancel()
    await loop.value
  }
  @Test func `remembers signals sent while nobody waits as one`() async {
    let signal = WakeSignal()
    signal.send()
    signal.send()
    await signal.wait()
    let timeout = Load()
    await signal.wait { timeout.enter() }
    #expect(timeout.total == 1)
  }

  @Test func `cancels the timeout when a signal comes first`() async throws {
    let signal = WakeSignal()
    let isCancelled = Flag()
    let (never, _) = AsyncStream<Void>.makeStream()
    signal.send()
    await signal.wait {
      await withTaskCancellationHandler {
        for await _ in never {}
      } onCancel: {
        isCancelled.set()
      }
    }
    try await eventually("the timeout is cancelled") { isCancelled.isSet }
  }

  @Test func `returns when the task is cancelled`() async {
    let signal = WakeSignal()
    let waiter = Task { await signal.wait() }
    waiter.cancel()
    await waiter.value
  }
}

@Suite(.timeLimit(.minutes(1))) struct BlockingExecutorTests {
  @Test func `runs as much blocking work at once as it has threads`() async {
    let executor = BlockingExecutor(threads: 3)
    // Again and again, because a thread that wakes too late does so only now and then.
    for _ in 0..<100 {
      let load = Load()
      await withDiscardingTaskGroup { group in
        for _ in 0..<3 {
          group.addTask(executorPreference: executor) {
            // Blocks its thread until all three are in here.
            load.enter()
            let end = ContinuousClock.now + .seconds(30)
            while load.most < 3, .now < end { usleep(100) }
          }
        }
      }
      #expect(load.most == 3)
      if load.most < 3 { break }
    }
  }

  @Test func `one thread works in the order in which work was queued`() async {
    let executor = BlockingExecutor(threads: 1)
    let order = Recorder()
    let gate = Flag()
    let blocker = Task(executorPreference: executor) { while !gate.isSet { usleep(100) } }
    let tasks = (1...5).map { number in
      Task(executorPreference: executor) { order.append(number) }
    }
    gate.set()
    await blocker.value
    for task in tasks { await task.value }
    #expect(order.values == [1, 2, 3, 4, 5])
  }

  @Test func `runs what may block on its threads, not on the caller's`() async {
    let executor = BlockingExecutor(threads: 1)
    @Sendable func thread() -> UInt { UInt(pthread_self()) }
    let own = await Task(executorPreference: executor) { thread() }.value
    #expect(thread() != own)
    #expect(await executor.run { thread() } == own)
    #expect(
      await executor.run {
        await Task.yield(); return thread()
      } == own)
    #expect(thread() != own)
  }

  @Test func `gives the result, or throws the error, of the work`() async throws {
    struct Failure: Error {}
    let executor = BlockingExecutor(threads: 1)
    #expect(await executor.run { 7 } == 7)
    await #expect(throws: Failure.self) { try await executor.run { throw Failure() } }
  }
}

@Suite(.timeLimit(.minutes(1))) struct GenerationalCacheTests {
  @Test func `keeps what is used and drops what is not`() {
    var cache = GenerationalCache<Int, Int>(capacity: 4)
    cache.insert(1, for: 1)
    cache.insert(2, for: 2)
    cache.insert(3, for: 3)
    #expect(cache.value(for: 1) == 1)
    cache.insert(4, for: 4)
    #expect(cache.value(for: 2) == nil)
    #expect(cache.value(for: 1) == 1 && cache.peek(3) == 3 && cache.peek(4) == 4)
    #expect(cache.count <= 4)
  }

  @Test func `is never larger than its capacity`() {
    var cache = GenerationalCache<Int, Int>(capacity: 10)
    for number in 0..<1000 {
      cache.insert(number, for: number)
      _ = cache.value(for: number / 2)
      #expect(cache.count <= 10)
    }
  }

  @Test func `removes the value of a key`() {
    var cache = GenerationalCache<Int, Int>(capacity: 8)
    for number in 1...6 { cache.insert(number, for: number) }
    cache.remove(6)
    cache.remove(2)
    #expect([1, 2, 3, 4, 5, 6].filter { cache.peek($0) != nil } == [1, 3, 4, 5])
  }
}

extension GenerationalCacheTests {
  @Test func `a key that is set again is held once, and drops nothing`() {
    var cache = GenerationalCache<Int, Int>(capacity: 4)
    for number in 1...4 { cache.insert(number, for: number) }
    cache.insert(30, for: 3)
    #expect(cache.peek(1) == 1 && cache.peek(3) == 30 && cache.count == 4)
    cache.remove(4)
    cache.insert(10, for: 1)
    #expect(cache.count == 3)
    #expect([1, 2, 3, 4].map { cache.peek($0) } == [10, 2, 30, nil])
  }
}

@Suite(.timeLimit(.minutes(1))) struct PercentEncodingTests {
  @Test(arguments: [
    ("a-z_0.9~", "a-z_0.9~"), ("ä /%", "%C3%A4%20%2F%25"), ("", ""), ("\n", "%0A"),
  ]) func `escapes all but unreserved characters, and decodes them`(text: String, encoded: String) {
    #expect(PercentEncoding.encode(text) == encoded)
    #expect(PercentEncoding.decode(Array(encoded.utf8).span) == text)
  }

  @Test(arguments: ["%", "%4", "%zz", "%00", "%FF", "a%C3"])
  func `decodes nothing that is not well-formed text`(encoded: String) {
    #expect(PercentEncoding.decode(Array(encoded.utf8).span) == nil)
  }

  @Test func `decodes a plus as a space only in forms, and an escape only once`() {
    #expect(PercentEncoding.decode(Array("a+b".utf8).span) == "a+b")
    #expect(PercentEncoding.decode(Array("a+%62".utf8).span) == "a+b")
    #expect(PercentEncoding.decode(Array("a+b".utf8).span, decodesPlusAsSpace: true) == "a b")
    #expect(PercentEncoding.decode(Array("%2541".utf8).span) == "%41")
  }
}

@Suite(.timeLimit(.minutes(1))) struct FastCGIRecordTests {
  @Test func `pads records to eight bytes and reads the header back`() throws {
    var bytes: [UInt8] = []
    FastCGIRecord.append(.output, requestID: 258, [1, 2, 3], to: &bytes)
    #expect(bytes.count == 16)
    let header = try #require(FastCGIRecord.Header(bytes.prefix(FastCGIRecord.Header.size)))
    #expect(header.kind == .output && header.requestID == 258)
    #expect(header.contentLength == 3 && header.paddingLength == 5)
    #expect(FastCGIRecord.Header([2, 1, 0, 1, 0, 0, 0, 0]) == nil)
    #expect(FastCGIRecord.Header([1, 1, 0]) == nil)
  }

  @Test func `ends a stream with an empty record`() throws {
    var bytes: [UInt8] = []
    FastCGIRecord.appendStream(
      .input, requestID: 1, Array(repeating: 7, count: 70_000)[...], to: &bytes)
    var lengths: [Int] = []
    var rest = bytes[...]
    while let header = FastCGIRecord.Header(rest.prefix(8)) {
      lengths.append(header.contentLength)
      rest = rest.dropFirst(8 + header.contentLength + header.paddingLength)
    }
    #expect(lengths == [65_528, 4_472, 0] && rest.isEmpty)
  }

  @Test func `encodes and decodes name-value pairs of any length`() throws {
    for length in [127, 128, 300] {
      let long = String(repeating: "v", count: length)
      let bytes = FastCGIRecord.encode([("A", "1"), ("LONG", long), ("EMPTY", "")])
      #expect(FastCGIRecord.decodePairs(bytes) == ["A": "1", "LONG": long, "EMPTY": ""])
    }
    #expect(FastCGIRecord.decodePairs([0, 0x80, 0, 0, 0]) == ["": ""])
    let bytes = FastCGIRecord.encode([("A", "1")])
    #expect(FastCGIRecord.decodePairs(bytes.dropLast()) == nil)
  }
}

@Suite(.timeLimit(.minutes(1))) struct FileDescriptorTests {
  @Test func `reads and writes a file whole, and is closed with its last reference`() throws {
    let path = "/tmp/descriptor-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    defer { unlink(path) }
    let number: Int32
    do {
      let file = try FileDescriptor(path, O_RDWR | O_CREAT)
      number = file.number
      try Array("hello".utf8).withUnsafeBytes { try file.write($0) }
      #expect(try file.status().st_size == 5)
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
    }
    #expect(fcntl(number, F_GETFD) == -1)
    let file = try FileDescriptor(path, O_RDONLY)
    #expect(try file.readAll(limit: 4) == Array("hell".utf8))
    #expect(try file.readAll(limit: 100) == Array("o".utf8))
  }

  @Test func `repeats a call that a signal interrupts`() throws {
    var calls = 0
    let result = try FileDescriptor.retrying {
      calls += 1
      errno = EINTR
      return calls < 3 ? -1 : calls
    }
    #expect(result == 3)
  }

  @Test func `writes everything or throws`() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let pipe = try #require(FileDescriptor(owning: ends[1]))
    #expect(fcntl(pipe.number, F_SETFL, O_NONBLOCK) == 0)
    // The pipe takes the beginning only, and nobody reads.
    #expect(throws: Errno(rawValue: EAGAIN)) {
      try pipe.write([UInt8](repeating: 0, count: 1 << 20))
    }
  }

  @Test func `says what the system said`() {
    #expect(throws: Errno(rawValue: ENOENT)) { try FileDescriptor("/nowhere/at/all", O_RDONLY) }
    errno = 0
    _ = try? FileDescriptor("/nowhere/at/all", O_RDONLY)
    #expect(errno == ENOENT, "nothing is closed that was not opened")
    #expect(Errno(rawValue: ENOENT).description == "No such file or directory")
  }
}

@Suite(.timeLimit(.minutes(1))) struct UnixSocketAddressTests {
  @Test(arguments: [1, 200])
  func `names a socket in a folder, however long the folder's path is`(length: Int) throws {
    let path = "/tmp/\(String(repeating: "x", count: length))-\(UInt32.random(in: 0 ... .max))"
    try #require(mkdir(path, 0o700) == 0)
    defer { rmdir(path) }
    func newSocket() throws -> FileDescriptor {
      try #require(FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)))
    }
    #expect(throws: Errno(rawValue: ENOENT)) {
      try UnixSocketAddress("s", in: path).connect(newSocket())
    }
    let listener = try newSocket()
    try UnixSocketAddress("s", in: path).bind(listener)
    defer { unlink(path + "/s") }
    #expect(access(path + "/s", F_OK) == 0)
    try #require(listen(listener.number, 1) == 0)
    try UnixSocketAddress("s", in: path).connect(newSocket())
    try UnixSocketAddress("s", in: FileDescriptor(path, O_RDONLY)).connect(newSocket())
    #expect(throws: Errno(rawValue: EADDRINUSE)) {
      try UnixSocketAddress("s", in: path).bind(newSocket())
    }
  }
}
