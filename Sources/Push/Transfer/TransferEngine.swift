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
  private static let spareHandles = 512

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
    var underWay: [UnsafeMutableRawPointer: Transfer] = [:]
    var spare: [UnsafeMutableRawPointer] = []
    while true {
      let orders = takeOrders()
      for transfer in orders.fresh {
        guard let handle = spare.popLast() ?? makeHandle() else {
          transfer.fail("There is no memory for a request.")
          continue
        }
        transfer.prepare(handle)
        let age = orders.connectionsSince.map { milliseconds(.now - $0) / 1000 + 1 }
        ccurl_set_number(handle, CURLOPT_MAXLIFETIME_CONN, age ?? 0)
        underWay[handle] = transfer
        curl_multi_add_handle(multi, handle)
      }
      let abandoned = orders.isStopping ? Array(underWay.values) : orders.abandoned
      for transfer in abandoned {
        guard let handle = transfer.handle else { continue }
        release(handle, &underWay, &spare)?.fail("The push was abandoned.")
      }
      if orders.isStopping { return end(spare) }
      var running: CInt = 0
      curl_multi_perform(multi, &running)
      var result = CURLE_OK
      while let handle = ccurl_multi_next_finished(multi, &result) {
        release(handle, &underWay, &spare)?.finish(result)
      }
      curl_multi_poll(multi, nil, 0, 60_000, nil)
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

  /// Takes a transfer out of libcurl, after which its buffers may go.
  private func release(
    _ handle: UnsafeMutableRawPointer, _ underWay: inout [UnsafeMutableRawPointer: Transfer],
    _ spare: inout [UnsafeMutableRawPointer]
  ) -> Transfer? {
    curl_multi_remove_handle(multi, handle)
    let transfer = underWay.removeValue(forKey: handle)
    transfer?.release()
    if spare.count < Self.spareHandles {
      spare.append(handle)
    } else {
      curl_easy_cleanup(handle)
    }
    return transfer
  }

  private func end(_ spare: [UnsafeMutableRawPointer]) {
    for handle in spare { curl_easy_cleanup(handle) }
    curl_multi_cleanup(multi)
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
