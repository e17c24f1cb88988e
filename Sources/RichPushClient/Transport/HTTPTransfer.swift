#if !canImport(Darwin)
  import CCurl
  import FoundationEssentials
  import Glibc
  import Primitives
  import Synchronization

  /// One request by libcurl.
  final class HTTPTransfer: Sendable {
    private let request: HTTPRequest
    private let parts: ResponseParts.Continuation
    private let handle: CurlHandle
    private let hasHead = Atomic(false)
    private let isCancelled = Atomic(false)

    init(_ request: HTTPRequest, _ handle: CurlHandle, to parts: ResponseParts.Continuation) {
      (self.request, self.handle, self.parts) = (request, handle, parts)
    }

    /// Ends the transfer, within a second.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Blocks until the response is complete.
    func perform() throws {
      let handle = handle.pointer
      var fields: UnsafeMutablePointer<curl_slist>?
      // Without content, libcurl would add a type.
      for (name, value) in ["Content-Type": ""].merging(request.fields, uniquingKeysWith: { $1 }) {
        fields = curl_slist_append(fields, "\(name): \(value)")
      }
      defer { curl_slist_free_all(fields) }
      ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
      let file = try setBody(of: handle)
      defer { if let file { fclose(file) } }
      ccurl_set_text(handle, CURLOPT_URL, request.url.absoluteString)
      ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
      for (option, value) in [
        (CURLOPT_NOSIGNAL, 1), (CURLOPT_CONNECTTIMEOUT, min(30, request.timeout)),
        (CURLOPT_LOW_SPEED_LIMIT, 1), (CURLOPT_LOW_SPEED_TIME, request.timeout),
        (CURLOPT_MAXREDIRS, 5),
        (CURLOPT_FOLLOWLOCATION, request.method == "GET" ? 1 : 0),
      ] { ccurl_set_number(handle, option, value) }
      ccurl_set_socket_habits(handle)
      ccurl_set_trust(handle, nil)
      // Unretained, because `ccurl_perform` returns before this function does.
      let context = Unmanaged.passUnretained(self).toOpaque()
      ccurl_set_receiver(handle, Self.onBody, context)
      ccurl_set_progress(handle, Self.onProgress, context)
      let result = ccurl_perform(handle)
      guard result == CURLE_OK else {
        throw TransferError(reason: String(cString: ccurl_reason(handle, result, nil)))
      }
      passHead()
      curl_easy_reset(handle)  // keeps the connections
    }

    /// Sets the method and the body; returns the file to be closed after the transfer.
    private func setBody(
      of handle: UnsafeMutableRawPointer?
    ) throws -> UnsafeMutablePointer<FILE>? {
      if request.method != "GET" { ccurl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method) }
      switch request.body {
      case .none: return nil
      case .data(let data):
        ccurl_set_number(handle, CURLOPT_POSTFIELDSIZE, data.count)
        var bytes = Array(data)
        ccurl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, &bytes)
        return nil
      case .file(let url):
        guard let file = fopen(url.path, "re") else { throw Errno.current }
        // Without a function of ours, libcurl reads a C stream.
        fseek(file, 0, SEEK_END)
        ccurl_set_number(handle, CURLOPT_INFILESIZE_LARGE, ftell(file))
        rewind(file)
        ccurl_set_number(handle, CURLOPT_UPLOAD, 1)
        ccurl_set_pointer(handle, CURLOPT_READDATA, file)
        return file
      }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer? {
      context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    private static let onBody: ccurl_receiver = { bytes, size, count, context in
      guard let transfer = of(context), let bytes else { return 0 }
      transfer.passHead()
      let piece = Data(bytes: bytes, count: size * count)
      // Any other number than all bytes makes libcurl end the transfer.
      if case .dropped = transfer.parts.yield(.bytes(piece)) { return 0 }
      return size * count
    }

    private static let onProgress: curl_xferinfo_callback = { context, _, _, _, _ in
      of(context)?.isCancelled.load(ordering: .relaxed) ?? true ? 1 : 0
    }

    /// Passes the head on, unless that was done before.
    private func passHead() {
      guard !hasHead.exchange(true, ordering: .relaxed) else { return }
      let fields = ["content-type", "etag", "retry-after"].compactMap { (name: String) in
        ccurl_field(handle.pointer, name).map { (name, String(cString: $0)) }
      }
      let status = ccurl_status(handle.pointer)
      parts.yield(.head(HTTPResponse(status: status, fields: Dictionary(fields) { $1 })))
    }
  }

  /// Why there was no complete response.
  private struct TransferError: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
  }
#endif
