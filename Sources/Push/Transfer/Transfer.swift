import CCurl
import Synchronization

/// One request on its way through libcurl.
///
/// Unchecked: after its start only the thread of its loop touches it.
final class Transfer: @unchecked Sendable {
  typealias Completion = @Sendable (Result<TransferResponse, TransferFailure>) -> Void

  private let request: TransferRequest
  private let completion: Completion
  private var response = TransferResponse()
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let complaint = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init(_ request: TransferRequest, completion: @escaping Completion) {
    self.request = request
    self.completion = completion
    complaint.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_slist_free_all(headers)
    complaint.deallocate()
  }

  /// Writes the request into an easy handle, which must not outlive this object.
  func prepare(_ handle: UnsafeMutableRawPointer) {
    ccurl_set_text(handle, CURLOPT_URL, request.url)
    ccurl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method)
    if request.method == "POST" {
      ccurl_set_number(handle, CURLOPT_POSTFIELDSIZE, request.body.count)
      request.body.withUnsafeBytes {
        _ = ccurl_set_pointer(
          handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
      }
    }
    // A field with a control character could become two, so it is left out.
    for field in request.fields where field.value.utf8.allSatisfy({ $0 >= 0x20 }) {
      headers = curl_slist_append(headers, "\(field.name): \(field.value)")
    }
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, complaint)
    ccurl_set_receivers(
      handle, receiveHeader, receiveBody, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Reads the status off the handle before it is released.
  func readStatus(_ handle: UnsafeMutableRawPointer) {
    response.status = ccurl_status(handle)
  }

  /// Tells the sender; called once, after the handle is released.
  func finish(_ result: CURLcode) {
    guard result != CURLE_OK else { return completion(.success(response)) }
    let detail = String(cString: complaint)
    fail(
      detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail,
      isTimeout: result == CURLE_OPERATION_TIMEDOUT)
  }

  /// Tells the sender that there will be no answer; called instead of `finish`.
  func fail(_ reason: String, isTimeout: Bool = false) {
    completion(.failure(TransferFailure(reason: reason, isTimeout: isTimeout)))
  }

  fileprivate func takeHeader(_ line: String) {
    if line.hasPrefix("HTTP/") {
      response.fields = [:]
    } else if let colon = line.firstIndex(of: ":"),
      response.fields.count < TransferResponse.fieldLimit
    {
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      response.fields[line[..<colon].lowercased()] = String(value.prefix { !$0.isNewline })
    }
  }

  fileprivate func takeBody(_ bytes: UnsafeRawBufferPointer) {
    response.body += bytes.prefix(TransferResponse.bodyLimit - response.body.count)
  }
}

private let receiveHeader: ccurl_receiver = { bytes, size, count, context in
  guard let bytes, let context else { return 0 }
  let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
  Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    .takeHeader(String(decoding: line, as: UTF8.self))
  return size * count
}

private let receiveBody: ccurl_receiver = { bytes, size, count, context in
  guard let bytes, let context else { return 0 }
  Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    .takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}
