import CCurl
import Glibc

/// One HTTP request through libcurl, without redirects, proxies, cookies or credentials.
struct Transfer {
  let link: Link
  /// What the request accepts, and how many bytes of it.
  let accept: String
  let limit: Int
  let policy: AddressPolicy

  /// Runs the transfer; a body beyond the limit is cut, not refused.
  func run(milliseconds: Int) throws(FetchError) -> Answer {
    guard milliseconds > 0 else { throw FetchError("no time was left") }
    let isOpened = policy.isOpened(link.host.ascii, link.port)
    guard isOpened || policy.allowsPort(link.port) else {
      throw FetchError("port \(link.port) is not one that web pages are served on")
    }
    guard let handle = curl_easy_init() else { throw FetchError("libcurl did not start") }
    defer { curl_easy_cleanup(handle) }
    let receiver = Receiver(limit: limit, isOpened: isOpened)
    configure(handle, milliseconds: milliseconds)
    let fields = curl_slist_append(nil, "Accept: \(accept)")
    defer { curl_slist_free_all(fields) }
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
    let context = Unmanaged.passUnretained(receiver).toOpaque()
    ccurl_set_receivers(handle, Receiver.onHeader, Receiver.onBody, context)
    ccurl_set_socket_opener(handle, Receiver.onSocket, context)
    let result = withExtendedLifetime(receiver) { curl_easy_perform(handle) }
    if let refused = receiver.refused { throw FetchError("\(link.host.ascii) is at \(refused)") }
    guard result == CURLE_OK || receiver.answer.isCut else {
      throw FetchError(String(cString: curl_easy_strerror(result)))
    }
    receiver.answer.status = ccurl_status(handle)
    return receiver.answer
  }

  private func configure(_ handle: UnsafeMutableRawPointer, milliseconds: Int) {
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_TIMEOUT_MS, milliseconds), (CURLOPT_CONNECTTIMEOUT_MS, min(3000, milliseconds)),
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_HTTP_VERSION, 2),
      (CURLOPT_FORBID_REUSE, 1), (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
    ]
    let texts = [
      (CURLOPT_URL, link.url), (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_PROXY, ""),
      (CURLOPT_USERAGENT, "richpush-url/1.0 (link card)"),
    ]
    for (option, value) in numbers { ccurl_set_number(handle, option, value) }
    for (option, value) in texts { ccurl_set_text(handle, option, value) }
  }
}
