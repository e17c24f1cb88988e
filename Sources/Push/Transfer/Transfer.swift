import CCurl

/// One request on its way through libcurl.
///
/// Unchecked: after its start only the thread of its loop touches it.
final class Transfer: @unchecked Sendable {
  typealias Completion = @Sendable (Result<TransferResponse, TransferFailure>) -> Void

  private let request: TransferRequest
  private let completion: Completion
  private let headers: UnsafeMutablePointer<curl_slist>?
  private var response = TransferResponse()
  private let complaint = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// The easy handle that carries it, while it is under way.
  private(set) var handle: UnsafeMutableRawPointer?
  private var wasConnected = false

  init(_ request: TransferRequest, completion: @escaping Completion) {
    self.request = request
    self.completion = completion
    complaint.pointee = 0
    // A field with a control character could become two, so it is left out.
    headers = request.fields.reduce(nil) { list, field in
      guard field.value.utf8.allSatisfy({ $0 >= 0x20 }) else { return list }
      return curl_slist_append(list, "\(field.name): \(field.value)")
    }
  }

  deinit {
    curl_slist_free_all(headers)
    complaint.deallocate()
  }

  /// Writes the request into an easy handle, until ``release()``.
  func prepare(_ handle: UnsafeMutableRawPointer) {
    self.handle = handle
    ccurl_set_text(handle, CURLOPT_URL, request.url)
    ccurl_set_number(handle, CURLOPT_POSTFIELDSIZE, request.body.count)
    request.body.withUnsafeBytes {
      _ = ccurl_set_pointer(
        handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, complaint)
    ccurl_set_receivers(
      handle, receiveHeader, receiveBody, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Reads what it knows off the handle, which knows nothing of this object any more afterwards.
  func release() {
    guard let handle else { return }
    response.status = ccurl_status(handle)
    wasConnected = ccurl_was_connected(handle)
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, nil)
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
    self.handle = nil
  }

  /// Tells the sender; called once, after ``release()``.
  func finish(_ result: CURLcode) {
    guard result != CURLE_OK else { return completion(.success(response)) }
    let detail = String(cString: complaint)
    fail(
      detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail,
      isSilence: result == CURLE_OPERATION_TIMEDOUT && wasConnected)
  }

  /// Tells the sender that there will be no answer; called instead of `finish`.
  func fail(_ reason: String, isSilence: Bool = false) {
    completion(.failure(TransferFailure(reason: reason, isSilence: isSilence)))
  }

  fileprivate func takeHeader(_ line: UnsafeRawBufferPointer) {
    // Fields of HTTP/2 are in lower case, so that few lines are compared.
    if line.first == UInt8(ascii: "H"), line.starts(with: "HTTP/".utf8) { response.head = [] }
    response.head += line.prefix(TransferResponse.limit - response.head.count)
  }

  fileprivate func takeBody(_ bytes: UnsafeRawBufferPointer) {
    response.body += bytes.prefix(TransferResponse.limit - response.body.count)
  }
}

private let receiveHeader: ccurl_receiver = { bytes, size, count, context in
  guard let bytes, let context else { return 0 }
  Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    .takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}

private let receiveBody: ccurl_receiver = { bytes, size, count, context in
  guard let bytes, let context else { return 0 }
  Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    .takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}
