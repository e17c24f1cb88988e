import CCurl
import Glibc
import Primitives

/// A request to a provider, and what is sent with it.
struct ProviderRequest: Sendable {
  let url: String
  /// What is posted; nil for GET.
  var form: [(name: String, value: String)]?
  /// The value of the `Authorization` field.
  var authorization: String?

  /// GET, or POST of a form.
  init(_ url: String, form: [(name: String, value: String)]? = nil, authorization: String? = nil) {
    (self.url, self.form, self.authorization) = (url, form, authorization)
  }
}

/// The answer of a provider.
struct ProviderResponse: Sendable {
  let status: Int
  let body: [UInt8]
}

/// Requests to a provider, each over a connection of its own: there is one for each sign-in, and few others.
enum ProviderConnection {
  /// Libcurl's own set-up, once in a process.
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  /// The most bytes of an answer.
  static let limit = 256 << 10

  fileprivate final class Receiver {
    var body: [UInt8] = []
    var isTooLong = false

    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
      guard bytes.count <= limit - body.count else {
        isTooLong = true
        return 0
      }
      body += bytes
      return bytes.count
    }
  }

  /// Sends a request and receives its answer; blocks meanwhile.
  ///
  /// No redirection is followed.
  /// - Throws: `away` without an answer, `provider` if it is too long.
  static func send(
    _ request: ProviderRequest, _ configuration: OpenIDConfiguration
  ) throws(OpenIDError) -> ProviderResponse {
    guard isReady, let handle = curl_easy_init() else {
      throw OpenIDError(.away, "libcurl could not be started")
    }
    defer { ccurl_free(handle) }
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.pointee = 0
    defer { errorText.deallocate() }
    ccurl_set_socket_habits(handle)
    ccurl_set_trust(handle, configuration.authority)
    ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
    ccurl_set_number(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    let milliseconds = max(1, Int(configuration.timeout / .milliseconds(1)))
    ccurl_set_number(handle, CURLOPT_TIMEOUT_MS, milliseconds)
    ccurl_set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, min(5000, milliseconds))
    ccurl_set_text(
      handle, CURLOPT_PROTOCOLS_STR, request.url.hasPrefix("http://") ? "http" : "https")
    ccurl_set_text(handle, CURLOPT_USERAGENT, "richpush")
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    ccurl_set_text(handle, CURLOPT_URL, request.url)
    if let form = request.form {
      let body = FormEncoding.encode(form)
      ccurl_set_number(handle, CURLOPT_POSTFIELDSIZE, body.utf8.count)
      ccurl_set_text(handle, CURLOPT_COPYPOSTFIELDS, body)
    }
    let fields =
      ["Accept: application/json"] + (request.authorization.map { ["Authorization: \($0)"] } ?? [])
    let list = fields.reduce(nil as UnsafeMutablePointer<curl_slist>?) { curl_slist_append($0, $1) }
    defer { curl_slist_free_all(list) }
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, list)
    let receiver = Receiver()
    ccurl_set_receiver(handle, receiveBody, Unmanaged.passUnretained(receiver).toOpaque())
    let result = withExtendedLifetime(receiver) { ccurl_perform(handle) }
    if receiver.isTooLong {
      throw OpenIDError(.provider, "\(request.url) answers more than \(limit) bytes")
    }
    guard result == CURLE_OK else {
      let reason = String(cString: ccurl_reason(handle, result, errorText))
      throw OpenIDError(.away, "\(request.url) cannot be reached: \(reason)")
    }
    return ProviderResponse(status: ccurl_status(handle), body: receiver.body)
  }
}

private let receiveBody: ccurl_receiver = { bytes, size, count, context in
  guard let bytes, let context else { return 0 }
  return Unmanaged<ProviderConnection.Receiver>.fromOpaque(context).takeUnretainedValue()
    .receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
}

/// Names and values as in a query (application/x-www-form-urlencoded).
enum FormEncoding {
  static func encode(_ items: [(name: String, value: String)]) -> String {
    items.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
      .joined(separator: "&")
  }

  /// A URL with further parameters.
  static func url(_ url: String, _ items: [(name: String, value: String)]) -> String {
    url + (url.contains("?") ? "&" : "?") + encode(items)
  }
}
