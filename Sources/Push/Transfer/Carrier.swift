import CCurl
import Glibc

/// An easy handle of libcurl, which carries one transfer after another.
///
/// Only the thread of its engine touches it.
final class Carrier {
  let handle: UnsafeMutableRawPointer

  private(set) var transfer: Transfer?
  private var response = TransferResponse()
  /// Whether the body was longer than anybody reads, and the rest was left.
  private var isCut = false
  /// The fields of the transfer's own, followed by those it shares.
  private var own: UnsafeMutablePointer<curl_slist>?
  private let complaint = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Takes over a handle, which is freed with it.
  init(_ handle: UnsafeMutableRawPointer) {
    self.handle = handle
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, complaint)
    ccurl_set_receiver(handle, receiveBody, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    freeFields()
    curl_easy_cleanup(handle)
    complaint.deallocate()
  }

  /// The carrier of a handle.
  static func of(_ handle: UnsafeMutableRawPointer) -> Carrier? {
    ccurl_context(handle).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// Takes a transfer up; libcurl is told by the caller.
  func load(_ transfer: Transfer) {
    let request = transfer.request
    self.transfer = transfer
    transfer.carrier = self
    complaint.pointee = 0
    ccurl_set_text(handle, CURLOPT_URL, request.url)
    ccurl_set_number(handle, CURLOPT_POSTFIELDSIZE, request.body.utf8.count)
    ccurl_set_text(handle, CURLOPT_COPYPOSTFIELDS, request.body)
    own = SharedFields.list(request.fields)
    var last = own
    while let next = last?.pointee.next { last = next }
    last?.pointee.next = request.shared?.list
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, own ?? request.shared?.list)
  }

  /// Lays its transfer down, after libcurl let go of the handle; gives it with its answer.
  func unload(_ result: CURLcode) -> (transfer: Transfer, answer: Transfer.Answer)? {
    guard let transfer else { return nil }
    let answer = answer(to: result)
    freeFields()
    (self.transfer, transfer.carrier) = (nil, nil)
    (response, isCut) = (TransferResponse(), false)
    return (transfer, answer)
  }

  /// The microseconds between the request and the end of its answer.
  var answerTime: Int { Int(ccurl_answer_time(handle)) }

  private func answer(to result: CURLcode) -> Transfer.Answer {
    guard result == CURLE_OK || result == CURLE_WRITE_ERROR && isCut else {
      let detail = String(cString: complaint)
      return .failure(
        TransferFailure(
          reason: detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail,
          isSilence: result == CURLE_OPERATION_TIMEDOUT && ccurl_was_connected(handle)))
    }
    response.status = ccurl_status(handle)
    for name in TransferResponse.names {
      guard let value = ccurl_field(handle, name) else { continue }
      let bytes = UnsafeRawBufferPointer(
        start: value, count: strnlen(value, TransferResponse.fieldLimit))
      response.fields.append((name, String(decoding: bytes, as: UTF8.self)))
    }
    return .success(response)
  }

  private func freeFields() {
    let shared = transfer?.request.shared?.list
    var last = own
    while let next = last?.pointee.next, next != shared { last = next }
    last?.pointee.next = nil
    curl_slist_free_all(own)
    own = nil
  }

  fileprivate func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    let room = TransferResponse.limit - response.body.count
    response.body += bytes.prefix(room)
    isCut = bytes.count > room
    return isCut ? 0 : bytes.count
  }
}

private let receiveBody: ccurl_receiver = { bytes, size, count, context in
  guard let bytes, let context else { return 0 }
  return Unmanaged<Carrier>.fromOpaque(context).takeUnretainedValue()
    .take(UnsafeRawBufferPointer(start: bytes, count: size * count))
}
