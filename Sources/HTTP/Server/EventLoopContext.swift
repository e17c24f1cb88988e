import CLinux
import Dispatch
import FoundationEssentials
import Glibc
import Primitives
import Synchronization

/// State that the connections of one event loop share; only the loop's thread uses it.
final class EventLoopContext {
  let responder: any Responder
  let limits: ServerConfiguration.Limits
  let timeouts: Timeouts
  let isSecure: Bool
  /// Whether the sockets go on listening when this process has ended.
  let isListenerKept: Bool
  let trustedProxies: IPAddressSet
  let cors: CORSPolicy?
  // Only the loop's thread uses it: overlapping accesses need not be looked for.
  @exclusivity(unchecked) var browserPolicy: BrowserPolicy?
  let limiter: ConnectionLimiter
  let log: Log
  let observer: AccessObserver?
  // The observer's: to read it there would copy the observer, and count a reference, for each request.
  let recordsCached: Bool
  let files: PreparedFileCache
  /// The requests that wait for a content's file, which another thread opens.
  var opening: [Content: [RequestHandle]] = [:]
  let cachedResponses: CachedResponses
  let queue: EventLoopQueue
  /// The receive buffer of all connections; a connection copies what it keeps.
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  /// Where the parts of a short response are joined.
  let shortResponse = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 << 10, alignment: 16)
  /// The open connections of the loop.
  var openConnections = 0
  /// Reads ``ServerConfiguration/time``.
  let time: @Sendable () -> Int
  /// The time in nanoseconds, as of the beginning of this turn.
  private(set) var turnStart = 0
  /// The same in milliseconds.
  private(set) var now = 0
  /// Seconds since 1970, as of the beginning of this turn.
  private(set) var second = 0
  private var headEnds: [[UInt8]] = []
  private var serial = UInt64.random(in: .min ... .max)

  init(
    configuration: ServerConfiguration, responder: any Responder, limiter: ConnectionLimiter,
    metrics: CacheMetrics, log: Log, observer: AccessObserver?
  ) throws(ServerError) {
    self.responder = responder
    limits = configuration.limits
    timeouts = Timeouts(configuration.limits)
    isSecure = configuration.tls != nil
    time = configuration.time
    isListenerKept = !configuration.listeningSockets.isEmpty
    trustedProxies = configuration.trustedProxies
    cors = CORSPolicy(configuration.allowedOrigins)
    browserPolicy = BrowserPolicy(
      hosts: configuration.allowedHosts, origins: configuration.allowedOrigins)
    self.limiter = limiter
    self.log = log
    self.observer = observer
    recordsCached = observer?.recordsCached == true
    files = PreparedFileCache(
      bytes: limits.preparedBytes, files: limits.preparedFiles,
      open: metrics.descriptorLimit / configuration.threads, metrics: metrics)
    cachedResponses = CachedResponses(capacity: limits.cachedResponses / configuration.threads)
    queue = try EventLoopQueue()
    beginTurn()
  }

  deinit {
    buffer.deallocate()
    shortResponse.deallocate()
  }

  /// Reads the clocks, once per turn.
  func beginTurn() {
    turnStart = time()
    now = turnStart / 1_000_000
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    guard time.tv_sec != second else { return }
    second = time.tv_sec
    let date = HTTPDate.text(Date(timeIntervalSince1970: Double(second)))
    headEnds = ResponseHead.Persistence.allCases.map { ResponseHead.end(date: date, $0) }
  }

  /// The end of a head that is sent now.
  func headEnd(_ persistence: ResponseHead.Persistence) -> [UInt8] {
    headEnds[persistence.rawValue]
  }

  // 2^64 divided by the golden ratio: its multiples (a Weyl sequence) visit all numbers in no obvious
  // order, so that request IDs do not reveal the number of requests.
  private static let serialStep: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// A new number for a request.
  func nextSerial() -> UInt64 {
    serial &+= Self.serialStep
    return serial
  }
}

/// Identifies a request of an event loop for other threads, even when its connection is closed.
struct RequestHandle: Sendable, Equatable {
  let descriptor: Int32
  /// Distinguishes it from others on the same descriptor.
  let serial: UInt64
}

/// A message from another thread to an event loop.
enum LoopMessage: Sendable {
  /// The plan for a request whose plan was deferred.
  case plan(RequestHandle, ResponsePlan)
  /// The response that the application has produced.
  case response(RequestHandle, Response)
  /// The response with which the application ends the receipt of a body.
  case interruption(RequestHandle, Response)
  /// A piece of a request's body was saved, or why it could not be.
  case saved(RequestHandle, HTTPError?)
  /// The file of a content was opened; nil if that is not possible.
  case prepared(Content, PreparedFile?)
  /// A stream has events to send.
  case events(RequestHandle)
  /// Stop accepting connections, then leave the group.
  case stopAccepting(DispatchGroup)
  /// Close idle connections now or in a moment, and the others after their response.
  case drain
  /// Close all connections; requests that the application is working on get a 503.
  case closeAll
  /// Leave the group: the loop still turns.
  case turn(DispatchGroup)
  /// End the thread.
  case quit
}

/// The message queue of an event loop; posting to it wakes the loop.
final class EventLoopQueue: Sendable {
  /// Readable while there are messages (eventfd).
  let descriptor: FileDescriptor
  private let messages = Mutex<[LoopMessage]>([])

  init() throws(ServerError) {
    let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard let descriptor = FileDescriptor(owning: number) else { throw .noDescriptor }
    self.descriptor = descriptor
  }

  func post(_ message: LoopMessage) {
    let isFirst = messages.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    if isFirst { eventfd_write(descriptor.number, 1) }
  }

  /// Removes and returns all messages.
  func takeAll() -> [LoopMessage] {
    var count: UInt64 = 0
    // Read before the messages are taken: a message posted in between makes it readable again.
    eventfd_read(descriptor.number, &count)
    return messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }
}
