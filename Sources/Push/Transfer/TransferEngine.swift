import CCurl
import Glibc
import Synchronization

/// The thread behind a ``TransferLoop``, and what it shares with other threads.
final class TransferEngine: Sendable {
  private struct Orders {
    var fresh: [Transfer] = []
    var abandoned: [Transfer] = []
    var connectionsSince: ContinuousClock.Instant?
    var isStopping = false
    var hasEnded = false
    /// Whether the thread was told to look here and has not yet.
    var isAwaited = false
  }

  private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  /// So many milliseconds without a word make room for further requests.
  private static let silence: CInt = 100

  private let orders = Mutex(Orders())
  private let trustAnchor: String?
  private let patience: Duration
  private let isMultiplexing: Bool
  /// Only the thread uses it, but for `curl_multi_wakeup`, which any thread may call.
  nonisolated(unsafe) private let multi: UnsafeMutableRawPointer

  init(
    trustAnchor: String?, connections: Int, isMultiplexing: Bool, patience: Duration
  ) throws(PushError) {
    guard Self.isReady, let multi = curl_multi_init() else {
      throw PushError(.unreachable, "libcurl could not be started.")
    }
    self.multi = multi
    self.trustAnchor = trustAnchor
    self.patience = patience
    self.isMultiplexing = isMultiplexing
    ccurl_multi_set_number(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    ccurl_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections)
    ccurl_multi_set_number(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000)
  }

  /// Starts the thread, which keeps the engine alive until ``stop()``.
  func launch() throws(PushError) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    guard pthread_create(&thread, nil, runEngine, context.toOpaque()) == 0 else {
      context.release()
      curl_multi_cleanup(multi)
      throw PushError(.unreachable, "No thread could be started for the push services.")
    }
    pthread_detach(thread)
  }

  func start(_ transfers: [Transfer]) {
    let isTooLate = order { orders in
      if !orders.isStopping { orders.fresh += transfers }
      return orders.isStopping
    }
    guard isTooLate else { return }
    for transfer in transfers { transfer.fail("The connection to the push service was shut down.") }
  }

  func abandon(_ transfers: [Transfer]) { order { $0.abandoned += transfers } }

  func reconnect() { order { $0.connectionsSince = .now } }

  func stop() { order { $0.isStopping = true } }

  private func order<Result: Sendable>(_ change: (inout Orders) -> Result) -> Result {
    orders.withLock { orders in
      let result = change(&orders)
      if !orders.hasEnded, !orders.isAwaited { curl_multi_wakeup(multi) }
      orders.isAwaited = true
      return result
    }
  }

  fileprivate func run() {
    var carriers = Carriers(multi: multi, makeHandle: makeHandle)
    while true {
      let taken = takeOrders()
      carriers.add(taken.fresh)
      carriers.abandon(taken.abandoned)
      if taken.isStopping {
        carriers.abandonAll()
        curl_multi_cleanup(multi)
        return
      }
      let age = taken.connectionsSince.map { milliseconds(.now - $0) / 1000 + 1 }
      carriers.begin(onConnectionsYoungerThan: age ?? 0)
      var running: CInt = 0
      curl_multi_perform(multi, &running)
      carriers.finish()
      if carriers.isReady { continue }
      var heard: CInt = 0
      curl_multi_poll(multi, nil, 0, carriers.isHeldUp ? Self.silence : 60_000, &heard)
      if heard == 0, carriers.isHeldUp, !orders.withLock(\.isAwaited) { carriers.widen() }
    }
  }

  private func takeOrders() -> Orders {
    orders.withLock { orders in
      let taken = orders
      orders.fresh = []
      orders.abandoned = []
      orders.isAwaited = false
      orders.hasEnded = orders.isStopping
      return taken
    }
  }
}

extension TransferEngine {
  /// A handle with the habits of all requests.
  private func makeHandle() -> UnsafeMutableRawPointer? {
    guard let handle = curl_easy_init() else { return nil }
    ccurl_set_socket_habits(handle)
    ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
    // Over HTTP/1.1 libcurl itself leaves a connection on which an answer did not come.
    let version = isMultiplexing ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
    ccurl_set_number(handle, CURLOPT_HTTP_VERSION, Int(version))
    ccurl_set_number(handle, CURLOPT_PIPEWAIT, 1)
    ccurl_set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, min(10_000, milliseconds(patience)))
    ccurl_set_number(handle, CURLOPT_TIMEOUT_MS, milliseconds(patience))
    ccurl_set_number(handle, CURLOPT_MAXAGE_CONN, 3600)
    ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "https,http")
    ccurl_set_text(handle, CURLOPT_USERAGENT, "richpush")
    guard let trustAnchor else { return handle }
    // GnuTLS adds the certificates of the file to those of the folder.
    ccurl_set_text(handle, CURLOPT_CAINFO, trustAnchor)
    ccurl_set_text(handle, CURLOPT_CAPATH, "/etc/ssl/certs")
    return handle
  }

  private func milliseconds(_ duration: Duration) -> Int { Int(duration.seconds * 1000) }
}

private func runEngine(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  var signals = sigset_t()
  sigfillset(&signals)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
  Unmanaged<TransferEngine>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
