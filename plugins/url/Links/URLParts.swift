import CCurl

/// A URL in libcurl's keeping (curl_url(3)).
struct URLParts: ~Copyable {
  private let handle = curl_url()

  deinit { curl_url_cleanup(handle) }

  func parse(_ text: String) -> Bool {
    let flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE
    return curl_url_set(handle, CURLUPART_URL, text, UInt32(flags)) == CURLUE_OK
  }

  func set(_ part: CURLUPart, _ text: String) -> Bool {
    curl_url_set(handle, part, text, 0) == CURLUE_OK
  }

  func get(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
