import CMicroHTTPD
import Glibc

/// A response of libmicrohttpd's (struct MHD_Response), released when it goes out of scope.
///
/// The connections it was queued on keep it alive until they have sent it.
struct RawResponse: ~Copyable {
  /// NULL when memory has run out; the connection is then closed.
  let handle: OpaquePointer?
  /// How many bytes its body has.
  let size: Int

  private init(_ handle: OpaquePointer?, size: Int, fields: Fields) {
    self.handle = handle
    self.size = size
    fields.forEachLine { MHD_add_response_header(handle, $0, $1) }
    MHD_add_response_header(handle, "X-Content-Type-Options", "nosniff")
  }

  deinit { if let handle { MHD_destroy_response(handle) } }

  /// A copy of bytes.
  init(bytes: [UInt8], fields: Fields) {
    let handle = bytes.withUnsafeBytes {
      MHD_create_response_from_buffer(
        $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
    }
    self.init(handle, size: bytes.count, fields: fields)
  }

  /// A part of a mapped file, which stays mapped as long as any connection sends it.
  init(_ mapping: Mapping, _ range: Range<Int>, fields: Fields) {
    let handle = MHD_create_response_from_buffer_with_free_callback_cls(
      range.count, mapping.bytes(range), releaseMapping, Unmanaged.passRetained(mapping).toOpaque())
    self.init(handle, size: range.count, fields: fields)
  }

  /// A whole file, sent by the kernel (sendfile) from a descriptor of its own; nil when it cannot be
  /// opened.
  init?(file path: String, size: Int, fields: Fields) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    guard let handle = MHD_create_response_from_fd64(UInt64(size), descriptor) else {
      close(descriptor)
      return nil
    }
    self.init(handle, size: size, fields: fields)
  }

  /// Pieces of memory, sent one after the other, that the owner keeps where they are.
  init(_ owner: Multipart, fields: Fields) {
    let handle = owner.withVectors {
      MHD_create_response_from_iovec(
        $0.baseAddress, UInt32($0.count), releaseMultipart,
        Unmanaged.passRetained(owner).toOpaque())
    }
    self.init(handle, size: owner.size, fields: fields)
  }

  /// A stream without an end of its own.
  init(_ sink: EventSink, fields: Fields) {
    let handle = MHD_create_response_from_callback(
      UInt64.max, 4096, readEvents, Unmanaged.passRetained(sink).toOpaque(), releaseSink)
    var fields = fields
    fields["Content-Type"] = "text/event-stream"
    fields["Cache-Control"] = "no-store"
    self.init(handle, size: 0, fields: fields)
  }
}

private let releaseMapping: MHD_ContentReaderFreeCallback = { owner in
  if let owner { Unmanaged<Mapping>.fromOpaque(owner).release() }
}

private let releaseMultipart: MHD_ContentReaderFreeCallback = { owner in
  if let owner { Unmanaged<Multipart>.fromOpaque(owner).release() }
}

private let releaseSink: MHD_ContentReaderFreeCallback = { owner in
  if let owner { Unmanaged<EventSink>.fromOpaque(owner).release() }
}

private let readEvents: MHD_ContentReaderCallback = { sink, _, buffer, room in
  guard let sink, let buffer else { return -2 }  // MHD_CONTENT_READER_END_WITH_ERROR
  return Unmanaged<EventSink>.fromOpaque(sink).takeUnretainedValue().read(
    into: UnsafeMutableRawBufferPointer(start: buffer, count: room))
}
