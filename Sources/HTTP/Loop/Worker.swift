import FoundationEssentials
import Glibc

/// What the connections of one event loop share; nothing in it needs a lock.
final class Worker {
  let responder: any Responder
  let limits: ServerConfiguration.Limits
  let times: PhaseTimes
  let isSecure: Bool
  let forwarding: Forwarding
  let crossOrigin: CrossOrigin?
  var browsers: BrowserPolicy?
  let admission: Admission
  let log: @Sendable (String) -> Void
  let observer: Observer?
  let prepared: PreparedCache
  let mailbox: Mailbox
  /// Where every connection receives; whatever one wants to keep it copies.
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  /// Connections of this loop.
  var open = 0
  /// Milliseconds of the monotonic clock when this turn began.
  private(set) var now = 0
  private var second = 0
  private var ends: [[UInt8]] = []
  private var serial = UInt64.random(in: .min ... .max)

  init(
    configuration: ServerConfiguration, responder: any Responder, admission: Admission,
    gauge: PreparedGauge, log: @escaping @Sendable (String) -> Void, observer: Observer?
  ) throws(ServerError) {
    self.responder = responder
    limits = configuration.limits
    times = PhaseTimes(configuration.limits)
    isSecure = configuration.tls != nil
    forwarding = Forwarding(trusted: configuration.trustedProxies)
    crossOrigin = CrossOrigin(configuration.origins)
    browsers = BrowserPolicy(hosts: configuration.hosts, origins: configuration.origins)
    self.admission = admission
    self.log = log
    self.observer = observer
    prepared = PreparedCache(
      bytes: limits.preparedBytes, files: limits.preparedFiles, gauge: gauge)
    mailbox = try Mailbox()
    beginTurn()
  }

  deinit { buffer.deallocate() }

  /// Looks at the clocks, once for all that is done in a turn.
  func beginTurn() {
    now = Ticks.now
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    guard time.tv_sec != second else { return }
    second = time.tv_sec
    let date = HTTPDate.text(Date(timeIntervalSince1970: Double(second)))
    ends = [.stays, .staysIn10, .closes].map { ResponseHead.end(date: date, $0) }
  }

  /// The end of a head that is sent now.
  func end(_ ending: ResponseHead.Ending) -> [UInt8] { ends[ending.rawValue] }

  /// Whether a file should be sent by the kernel (sendfile): a small one is sent sooner as a copy,
  /// together with its head.
  func streams(_ size: Int) -> Bool { size >= Self.large && !isSecure }

  private static let large = 64 << 10

  /// A number that names a request; they look unlike each other (Weyl's sequence).
  func nextSerial() -> UInt64 {
    serial &+= 0x9E37_79B9_7F4A_7C15
    return serial
  }
}
