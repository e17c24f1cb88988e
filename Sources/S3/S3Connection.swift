import CCurl
import Glibc
import Primitives

/// A libcurl handle, which keeps its connection from one request to the next; blocks while it is used.
// Unchecked: one thread at a time uses it.
final class S3Connection: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var request = S3Request("GET")
  private var response = S3Response()
  /// How many bytes of the request's body were read.
  private var sent = 0
  /// How many bytes were written to the request's file.
  private var written = 0
  /// Why a file could not be read or written.
  private var failure: Errno?

  /// Libcurl's own set-up, once in a process.
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  /// The milliseconds after which a connection that is not established fails.
  private static let connectTimeout = 3000
  /// The seconds after which a transfer without progress fails.
  private static let stallTimeout = 5

  /// Nil without memory.
  ///
  /// `authority` is a PEM file with certificates to trust besides the system's.
  init?(authority: String?) {
    guard Self.isReady, let handle = curl_easy_init() else { return nil }
    self.handle = handle
    ccurl_set_socket_habits(handle)
    ccurl_set_trust(handle, authority)
    ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
    ccurl_set_number(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    ccurl_set_number(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
    ccurl_set_number(handle, CURLOPT_LOW_SPEED_TIME, Self.stallTimeout)
    ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "https,http")
    ccurl_set_text(handle, CURLOPT_USERAGENT, "richpush")
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_receiver(handle, receiveBody, context)
    ccurl_set_sender(handle, sendBody, rewindBody, context)
  }

  deinit {
    ccurl_free(handle)
    errorText.deallocate()
  }

  /// Sends a request and receives its response.
  ///
  /// - Throws: `away` if there is no whole response after `timeout`, `file` if a file fails.
  func send(
    _ request: S3Request, to url: String, fields: [String], timeout: Duration
  ) throws(S3Error) -> S3Response {
    (self.request, response, sent, written, failure) = (request, S3Response(), 0, 0, nil)
    errorText.pointee = 0
    let list = fields.reduce(nil as UnsafeMutablePointer<curl_slist>?) { curl_slist_append($0, $1) }
    defer { curl_slist_free_all(list) }
    ccurl_set_text(handle, CURLOPT_URL, url)
    ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, list)
    let isSending = ["PUT", "POST"].contains(request.method)
    ccurl_set_upload(handle, isSending, request.body.count)
    ccurl_set_number(handle, CURLOPT_NOBODY, request.method == "HEAD" ? 1 : 0)
    ccurl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method)
    let milliseconds = max(1, Int(timeout / .milliseconds(1)))
    ccurl_set_number(handle, CURLOPT_TIMEOUT_MS, milliseconds)
    ccurl_set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, min(Self.connectTimeout, milliseconds))
    let result = ccurl_perform(handle)
    if let failure {
      throw S3Error(.file(failure.rawValue), "a file of the content cannot be used: \(failure)")
    }
    if written > request.limit {
      throw S3Error(.damaged, "an object is larger than \(request.limit) bytes")
    }
    guard result == CURLE_OK else {
      let reason = String(cString: ccurl_reason(handle, result, errorText))
      throw S3Error(.away, "the object store cannot be reached: \(reason)")
    }
    response.status = ccurl_status(handle)
    response.tag = field("etag")
    response.length = field("content-length").flatMap { Int($0) }
    response.modified = field("last-modified").map { curl_getdate($0, nil) }
    return response
  }

  private func field(_ name: String) -> String? {
    ccurl_field(handle, name).map { String(cString: $0) }
  }

  fileprivate func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    if let target = request.target, ccurl_status(handle) == 200 {
      written += bytes.count
      guard written <= request.limit else { return 0 }
      do { try target.write(bytes) } catch {
        failure = error
        return 0
      }
    } else {
      response.body += bytes.prefix(S3Response.limit - response.body.count)
    }
    return bytes.count
  }

  fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, request.body.count - sent)
    guard count > 0 else { return 0 }
    var read = 0
    switch request.body {
    case .none: break
    case .bytes(let bytes):
      buffer.copyBytes(from: bytes[sent..<sent + count])
      read = count
    case .file(let file, let offset, _):
      do {
        read = try FileDescriptor.retrying {
          pread(file.number, buffer.baseAddress, count, offset + sent)
        }
      } catch { failure = error }
      // A file that became shorter would let the other side wait for the rest.
      if failure == nil, read == 0 { failure = Errno(rawValue: EIO) }
      if failure != nil { return Int(CURL_READFUNC_ABORT) }
    }
    sent += read
    return read
  }

  fileprivate func rewind(to offset: Int) { sent = offset }
}

private let receiveBody: ccurl_receiver = { bytes, size, count, context in
  guard let bytes, let context else { return 0 }
  return Unmanaged<S3Connection>.fromOpaque(context).takeUnretainedValue()
    .receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private let sendBody: ccurl_receiver = { buffer, size, count, context in
  guard let buffer, let context else { return 0 }
  return Unmanaged<S3Connection>.fromOpaque(context).takeUnretainedValue()
    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

private let rewindBody: curl_seek_callback = { context, offset, origin in
  guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
  Unmanaged<S3Connection>.fromOpaque(context).takeUnretainedValue().rewind(to: Int(offset))
  return CURL_SEEKFUNC_OK
}
