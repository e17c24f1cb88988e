import CCurl
import Glibc
import Primitives

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
    defer { ccurl_free(handle) }
    let receiver = Receiver(limit: limit, isOpened: isOpened)
    configure(handle, milliseconds: milliseconds)
    let fields = curl_slist_append(nil, "Accept: \(accept)")
    defer { curl_slist_free_all(fields) }
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
    let context = Unmanaged.passUnretained(receiver).toOpaque()
    ccurl_set_receivers(handle, Receiver.onHeader, Receiver.onBody, context)
    ccurl_set_socket_opener(handle, Receiver.onSocket, context)
    let result = withExtendedLifetime(receiver) { ccurl_perform(handle) }
    if let refused = receiver.refused { throw FetchError("\(link.host.ascii) is at \(refused)") }
    guard result == CURLE_OK || receiver.answer.isCut else {
      throw FetchError(String(cString: ccurl_reason(handle, result, nil)))
    }
    receiver.answer.status = ccurl_status(handle)
    return receiver.answer
  }

  private func configure(_ handle: UnsafeMutableRawPointer, milliseconds: Int) {
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_TIMEOUT_MS, milliseconds), (CURLOPT_CONNECTTIMEOUT_MS, min(3000, milliseconds)),
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_HTTP_VERSION, 2),
      (CURLOPT_FORBID_REUSE, 1), (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
      // Else it waits until a look-up ends to which no server answers, long after the time is up.
      (CURLOPT_QUICK_EXIT, 1),
    ]
    let texts = [
      (CURLOPT_URL, link.url), (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_PROXY, ""),
      (CURLOPT_USERAGENT, "richpush-url/1.0 (link card)"),
    ]
    ccurl_set_trust(handle, nil)
    for (option, value) in numbers { ccurl_set_number(handle, option, value) }
    for (option, value) in texts { ccurl_set_text(handle, option, value) }
  }
}

/// A server's answer, up to a limit.
struct Answer {
  var status = 0
  /// The media type as it is declared, with its parameters.
  var contentType = ""
  /// The target of a redirect, as it is written.
  var location: String?
  var body: [UInt8] = []
  /// Whether the body was longer than the limit.
  var isCut = false
}

/// Receives an answer in libcurl's callbacks, all on the thread that runs the transfer.
final class Receiver {
  var answer = Answer()
  /// The last address that was refused, in words.
  private(set) var refused: String?

  private let limit: Int
  private let isOpened: Bool

  init(limit: Int, isOpened: Bool) {
    self.limit = limit
    self.isOpened = isOpened
  }

  /// The receiver behind a callback's context.
  private static func of(_ context: UnsafeMutableRawPointer?) -> Receiver? {
    context.map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
  }

  /// One line of the header (CURLOPT_HEADERFUNCTION).
  static let onHeader: ccurl_receiver = { bytes, size, count, context in
    let line = String(
      decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self)
    Receiver.of(context)?.take(line)
    return size * count
  }

  /// A piece of the body (CURLOPT_WRITEFUNCTION); taking fewer bytes than it has ends the transfer.
  static let onBody: ccurl_receiver = { bytes, size, count, context in
    guard let receiver = Receiver.of(context) else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let remaining = receiver.limit - receiver.answer.body.count
    receiver.answer.body += piece.prefix(remaining)
    receiver.answer.isCut = piece.count > remaining
    return min(remaining, piece.count)
  }

  /// A socket for an address that may be connected to (CURLOPT_OPENSOCKETFUNCTION).
  static let onSocket: curl_opensocket_callback = { context, _, address in
    guard let receiver = Receiver.of(context), let address else { return -1 }
    // Where libcurl has it: an IPv6 address is longer than its declaration, which a copy would be cut to.
    let isAllowed =
      receiver.isOpened || withUnsafePointer(to: &address.pointee.addr, PublicInternet.contains)
    guard isAllowed else {
      receiver.refused = "an address that is not public"
      return -1
    }
    let peer = address.pointee
    return socket(peer.family, peer.socktype | CInt(SOCK_CLOEXEC.rawValue), peer.protocol)
  }

  private func take(_ line: String) {
    if line.hasPrefix("HTTP/") {  // an interim answer (1xx) came before
      answer = Answer()
      return
    }
    let parts = line.split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else { return }
    let value = parts[1].drop { $0 == " " || $0 == "\t" }.prefix { !$0.isNewline }
    switch parts[0].lowercased() {
    case "content-type": answer.contentType = String(value)
    case "location": answer.location = String(value)
    default: break
    }
  }
}
