import CCurl
import Glibc
import Primitives

/// The waiting and the active transfers of one curl thread.
///
/// Used by the curl thread only.
struct EasyHandles {
  private let multi: UnsafeMutableRawPointer
  /// Creates a handle with the options of all requests.
  private let makeHandle: () -> UnsafeMutableRawPointer?
  private var waiting: [CurlTransfer] = []
  /// How many of `waiting` were started; they are removed together, which is cheaper.
  private var started = 0
  private var active: [ObjectIdentifier: EasyHandle] = [:]
  private var idle: [EasyHandle] = []
  private var window: ConcurrencyWindow

  init(
    multi: UnsafeMutableRawPointer, window: ConcurrencyWindow,
    makeHandle: @escaping () -> UnsafeMutableRawPointer?
  ) {
    (self.multi, self.window, self.makeHandle) = (multi, window, makeHandle)
  }

  private var isWaiting: Bool { started < waiting.count }

  /// Whether a transfer waits that may start now.
  var isReady: Bool { isWaiting && active.count < window.size }

  /// Whether transfers wait for the response to another.
  var isBlocked: Bool { isWaiting && !isReady }

  /// Whether transfers are under way.
  var isActive: Bool { !active.isEmpty }

  mutating func add(_ transfers: [CurlTransfer]) { waiting += transfers }

  /// Starts as many as may be under way, on connections that were made after a time; nil for any.
  mutating func begin(onConnectionsSince time: ContinuousClock.Instant?) {
    while isReady {
      let transfer = waiting[started]
      started += 1
      if transfer.isFinished { continue }
      guard let handle = idle.popLast() ?? makeHandle().map(EasyHandle.init) else {
        transfer.fail("Out of memory.")
        continue
      }
      handle.load(transfer)
      let since = [time, transfer.request.connectionsSince].compactMap(\.self).max()
      let age = since.map { Int((ContinuousClock.now - $0) / .seconds(1)) + 1 }
      ccurl_set_number(handle.handle, CURLOPT_MAXLIFETIME_CONN, age ?? 0)
      active[ObjectIdentifier(handle)] = handle
      curl_multi_add_handle(multi, handle.handle)
    }
    if !isWaiting { (waiting, started) = ([], 0) }
  }

  /// Completes the transfers that libcurl has finished.
  mutating func finish() {
    // All are taken first: libcurl searches the rest whenever one is removed.
    var finished: [(handle: EasyHandle, result: CURLcode)] = []
    var result = CURLE_OK
    while let handle = ccurl_multi_next_finished(multi, &result) {
      if let handle = EasyHandle.of(handle) { finished.append((handle, result)) }
    }
    for (handle, result) in finished {
      if result == CURLE_OK { window.adapt(to: handle.responseTime) }
      guard let (transfer, response) = release(handle, result) else { continue }
      transfer.finish(response)
    }
  }

  /// Allows more at once, because no response came for a while.
  mutating func widen() { window.widen() }

  /// Cancels transfers.
  mutating func cancel(_ transfers: [CurlTransfer]) {
    for transfer in transfers {
      if let handle = transfer.handle { _ = release(handle, CURLE_ABORTED_BY_CALLBACK) }
      transfer.fail("The push was cancelled.")
    }
  }

  /// Cancels everything.
  mutating func cancelAll() {
    cancel(active.values.compactMap(\.transfer) + waiting[started...])
    (waiting, started, idle) = ([], 0, [])
  }

  private mutating func release(
    _ handle: EasyHandle, _ result: CURLcode
  ) -> (transfer: CurlTransfer, result: CurlTransfer.Response)? {
    curl_multi_remove_handle(multi, handle.handle)
    active[ObjectIdentifier(handle)] = nil
    idle.append(handle)
    return handle.unload(result)
  }
}

/// The number of concurrent requests: the slower the responses, the more.
///
/// Each request under way costs libcurl time with every response to another. So there are few while the
/// service responds at once, and many when the round trip is long.
struct ConcurrencyWindow {
  private static let step = 64
  private let smallest: Int
  private let largest: Int
  /// The response times in microseconds at which the number stays as it is.
  private static let target = 25_000...50_000

  /// The number that may be under way.
  private(set) var size: Int

  /// The window of a client of one service.
  init() { (smallest, largest, size) = (64, 1000, 64) }

  /// The window of a client of many services: a fixed one, because a slow one must not make others wait.
  init(fixed size: Int) { (smallest, largest, self.size) = (size, size, size) }

  /// Adapts to the time between a request and its response, in microseconds.
  mutating func adapt(to time: Int) {
    if time > Self.target.upperBound { size = min(size + 1, largest) }
    if time < Self.target.lowerBound { size = max(size - 1, smallest) }
  }

  /// Allows more while requests get no response.
  mutating func widen() { size = min(size + Self.step, largest) }
}

/// A libcurl easy handle, which is reused for one transfer after another.
///
/// Used by the curl thread only.
final class EasyHandle {
  let handle: UnsafeMutableRawPointer

  private(set) var transfer: CurlTransfer?
  private var response = ServiceResponse()
  /// Whether the body was longer than the limit, and the transfer was ended there.
  private var isTruncated = false
  /// Whether an address was refused because it is not public.
  private var isForbidden = false
  /// The request's own header fields, followed by the shared ones.
  private var fields: UnsafeMutablePointer<curl_slist>?
  private var lastField: UnsafeMutablePointer<curl_slist>?
  /// The addresses of the request's host.
  private var addresses: UnsafeMutablePointer<curl_slist>?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Takes ownership of a handle.
  init(_ handle: UnsafeMutableRawPointer) {
    self.handle = handle
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_receiver(handle, receiveBody, context)
    ccurl_set_socket_opener(handle, openSocket, context)
    ccurl_set_resolver_guard(handle, guardResolver, context)
  }

  deinit {
    freeLists()
    ccurl_free(handle)
    errorText.deallocate()
  }

  /// The object of a handle.
  static func of(_ handle: UnsafeMutableRawPointer) -> EasyHandle? {
    ccurl_context(handle).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// Prepares the handle for a transfer; the caller adds it to the multi handle.
  func load(_ transfer: CurlTransfer) {
    let request = transfer.request
    self.transfer = transfer
    transfer.handle = self
    errorText.pointee = 0
    ccurl_set_text(handle, CURLOPT_URL, request.url)
    ccurl_set_number(handle, CURLOPT_POSTFIELDSIZE, request.body.count)
    _ = request.body.withUnsafeBytes {
      ccurl_set_bytes(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
    }
    isForbidden = false
    addresses = request.addresses?.reduce(nil) { curl_slist_append($0, $1) }
    ccurl_set_pointer(handle, CURLOPT_RESOLVE, addresses)
    fields = HeaderList.list(request.fields)
    lastField = fields
    while let next = lastField?.pointee.next { lastField = next }
    lastField?.pointee.next = request.shared?.list
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, fields ?? request.shared?.list)
  }

  /// Ends the transfer after the handle was removed from the multi handle.
  func unload(_ result: CURLcode) -> (transfer: CurlTransfer, result: CurlTransfer.Response)? {
    guard let transfer else { return nil }
    let result = response(result)
    freeLists()
    (self.transfer, transfer.handle) = (nil, nil)
    (response, isTruncated) = (ServiceResponse(), false)
    return (transfer, result)
  }

  /// The microseconds between the request and the end of its response.
  var responseTime: Int { Int(ccurl_answer_time(handle)) }

  private func response(_ result: CURLcode) -> CurlTransfer.Response {
    guard result == CURLE_OK || result == CURLE_WRITE_ERROR && isTruncated else {
      return .failure(
        ServiceFailure(
          reason: String(cString: ccurl_reason(handle, result, errorText)),
          isTimeout: result == CURLE_OPERATION_TIMEDOUT && ccurl_was_connected(handle),
          isForbidden: isForbidden))
    }
    response.status = ccurl_status(handle)
    for name in ServiceResponse.names {
      guard let value = ccurl_field(handle, name) else { continue }
      let bytes = UnsafeRawBufferPointer(
        start: value, count: strnlen(value, ServiceResponse.fieldLimit))
      response.fields.append((name, String(decoding: bytes, as: UTF8.self)))
    }
    return .success(response)
  }

  private func freeLists() {
    ccurl_set_pointer(handle, CURLOPT_RESOLVE, nil)
    curl_slist_free_all(addresses)
    addresses = nil
    // The shared fields are not this handle's to free.
    lastField?.pointee.next = nil
    curl_slist_free_all(fields)
    (fields, lastField) = (nil, nil)
  }

  /// A socket for an address that the request may connect to.
  ///
  /// Asked for every address, so a name that now resolves to another address does not evade the check.
  fileprivate func socket(
    _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>
  ) -> curl_socket_t {
    if transfer?.request.isPublicOnly != false,
      !withUnsafePointer(to: &address.pointee.addr, PublicInternet.contains)
    {
      isForbidden = true
      return CURL_SOCKET_BAD
    }
    return ccurl_open_socket(nil, purpose, address)
  }

  /// Whether libcurl may look up a name, for which it starts a thread.
  fileprivate var mayResolve: Bool { transfer?.request.addresses == nil }

  fileprivate func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    let space = ServiceResponse.bodyLimit - response.body.count
    response.body += bytes.prefix(space)
    isTruncated = bytes.count > space
    // Any other number than all bytes makes libcurl end the transfer.
    return isTruncated ? 0 : bytes.count
  }
}

private let receiveBody: ccurl_receiver = { bytes, size, count, context in
  guard let bytes, let context else { return 0 }
  return Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    .append(UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private let guardResolver: curl_resolver_start_callback = { _, _, context in
  guard let context else { return 1 }
  return Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().mayResolve ? 0 : 1
}

private let openSocket: curl_opensocket_callback = { context, purpose, address in
  guard let context, let address else { return CURL_SOCKET_BAD }
  return Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().socket(purpose, address)
}
