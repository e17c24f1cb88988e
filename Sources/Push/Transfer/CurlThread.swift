import CCurl
import Glibc
import Synchronization

/// The thread of a ``CurlClient``, and the requests of other threads to it.
final class CurlThread: Sendable {
  private struct Requests {
    var started: [CurlTransfer] = []
    var cancelled: [CurlTransfer] = []
    var connectionsSince: ContinuousClock.Instant?
    var isStopping = false
    var hasEnded = false
    /// Whether the thread was woken for these and has not taken them yet.
    var isWoken = false
  }

  private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  /// The milliseconds without a response after which more requests are started.
  private static let stallTimeout: CInt = 100
  /// The longest wait of the thread while requests are under way, in milliseconds.
  // libcurl 7.88 can have a response in its buffers, but waits for the socket: when a service allows fewer streams than
  // requests wait, in 11 of 100 runs until its next timer, that of the connect timeout.
  private static let activePoll: CInt = 100
  /// The longest wait of the thread without requests, in milliseconds; a wake-up ends it.
  private static let longestPoll: CInt = 60_000

  private let requests = Mutex(Requests())
  private let options: CurlClient.Options
  // Used by the thread only, except for `curl_multi_wakeup`, which any thread may call.
  nonisolated(unsafe) private let multi: UnsafeMutableRawPointer

  init(_ options: CurlClient.Options) throws(PushError) {
    guard Self.isReady, let multi = curl_multi_init() else {
      throw PushError(.unreachable, "libcurl could not be started.")
    }
    (self.multi, self.options) = (multi, options)
    ccurl_multi_set_number(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    ccurl_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, options.connections)
    // As APNs allows on one connection (SETTINGS_MAX_CONCURRENT_STREAMS).
    ccurl_multi_set_number(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000)
  }

  /// Starts the thread, which keeps this object alive until ``stop()``.
  func launch() throws(PushError) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    guard pthread_create(&thread, nil, runCurlThread, context.toOpaque()) == 0 else {
      context.release()
      curl_multi_cleanup(multi)
      throw PushError(.unreachable, "No thread could be started for the push services.")
    }
    pthread_detach(thread)
  }

  func start(_ transfers: [CurlTransfer]) {
    let isStopping = ask { requests in
      if !requests.isStopping { requests.started += transfers }
      return requests.isStopping
    }
    guard isStopping else { return }
    for transfer in transfers { transfer.fail("The connection to the push service was shut down.") }
  }

  func cancel(_ transfers: [CurlTransfer]) { ask { $0.cancelled += transfers } }

  func reconnect() { ask { $0.connectionsSince = .now } }

  func stop() { ask { $0.isStopping = true } }

  private func ask<Result: Sendable>(_ change: (inout Requests) -> Result) -> Result {
    requests.withLock { requests in
      let result = change(&requests)
      if !requests.hasEnded, !requests.isWoken { curl_multi_wakeup(multi) }
      requests.isWoken = true
      return result
    }
  }

  fileprivate func run() {
    var handles = EasyHandles(
      multi: multi,
      window: options.transfers.map { ConcurrencyWindow(fixed: $0) } ?? ConcurrencyWindow(),
      makeHandle: makeHandle)
    while true {
      let taken = takeRequests()
      handles.add(taken.started)
      handles.cancel(taken.cancelled)
      if taken.isStopping {
        handles.cancelAll()
        curl_multi_cleanup(multi)
        return
      }
      handles.begin(onConnectionsSince: taken.connectionsSince)
      var running: CInt = 0
      curl_multi_perform(multi, &running)
      handles.finish()
      if handles.isReady { continue }
      var events: CInt = 0
      curl_multi_poll(
        multi, nil, 0, longestWait(handles), &events)
      if events == 0, handles.isBlocked, !requests.withLock(\.isWoken) { handles.widen() }
    }
  }

  private func longestWait(_ handles: borrowing EasyHandles) -> CInt {
    if handles.isBlocked { return Self.stallTimeout }
    return handles.isActive ? Self.activePoll : Self.longestPoll
  }

  private func takeRequests() -> Requests {
    requests.withLock { requests in
      let taken = requests
      (requests.started, requests.cancelled, requests.isWoken) = ([], [], false)
      requests.hasEnded = requests.isStopping
      return taken
    }
  }
}

extension CurlThread {
  /// Creates a handle with the options of all requests.
  private func makeHandle() -> UnsafeMutableRawPointer? {
    guard let handle = curl_easy_init() else { return nil }
    ccurl_set_socket_habits(handle)
    ccurl_set_trust(handle, options.trustAnchor)
    ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
    // Over HTTP/1.1 libcurl itself drops a connection on which a response did not come.
    let version = options.isMultiplexing ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
    ccurl_set_number(handle, CURLOPT_HTTP_VERSION, Int(version))
    // Wait for a connection that can be multiplexed rather than open another.
    ccurl_set_number(handle, CURLOPT_PIPEWAIT, 1)
    let timeout = milliseconds(options.timeout)
    ccurl_set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, min(10_000, timeout))
    ccurl_set_number(handle, CURLOPT_TIMEOUT_MS, timeout)
    ccurl_set_number(handle, CURLOPT_MAXAGE_CONN, 3600)
    ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "https,http")
    ccurl_set_text(handle, CURLOPT_USERAGENT, "richpush")
    // A proxy would connect to addresses that nobody checks.
    if options.transfers != nil { ccurl_set_text(handle, CURLOPT_PROXY, "") }
    return handle
  }

  private func milliseconds(_ duration: Duration) -> Int { Int(duration.seconds * 1000) }
}

private func runCurlThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  // Signals are for the main thread; SIGPIPE, which libcurl's writes may raise, for none.
  var signals = sigset_t()
  sigfillset(&signals)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
  Unmanaged<CurlThread>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
