import CCurl
import Foundation
import Testing

/// What an app with the default action of SIGPIPE, its end, has from requests by libcurl.
@Suite(.timeLimit(.minutes(1))) struct BrokenPipeTests {
  /// Writes to a pipe that nobody reads, as a TLS library does to a connection that its peer has reset.
  private static let breaking: ccurl_receiver = { _, size, count, _ in
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return 0 }
    close(ends[0])
    defer { close(ends[1]) }
    return write(ends[1], "x", 1) < 0 && errno == EPIPE ? size * count : 0
  }

  /// A handle that reads this file, as our clients set theirs: libcurl leaves the signal alone.
  private static func handle() throws -> UnsafeMutableRawPointer {
    let handle = try #require(curl_easy_init())
    ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
    ccurl_set_text(handle, CURLOPT_URL, "file://" + #filePath)
    ccurl_set_receiver(handle, breaking, nil)
    return handle
  }

  private static func has(_ read: (UnsafeMutablePointer<sigset_t>) -> Int32) -> Bool {
    var set = sigset_t()
    return read(&set) == 0 && sigismember(&set, SIGPIPE) == 1
  }

  @Test func `a write that fails raises no SIGPIPE, and leaves none`() throws {
    signal(SIGPIPE, SIG_DFL)
    let handle = try Self.handle()
    defer { ccurl_free(handle) }
    #expect(ccurl_perform(handle) == CURLE_OK)
    #expect(!Self.has(sigpending))
    #expect(!Self.has { pthread_sigmask(SIG_BLOCK, nil, $0) })
  }

  @Test func `what was blocked and pending before stays so`() throws {
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, nil)
    raise(SIGPIPE)
    let handle = try Self.handle()
    #expect(ccurl_perform(handle) == CURLE_OK)
    ccurl_free(handle)
    #expect(Self.has(sigpending))
    #expect(Self.has { pthread_sigmask(SIG_BLOCK, nil, $0) })
    var noTime = timespec()
    #expect(sigtimedwait(&pipe, nil, &noTime) == SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &pipe, nil)
  }
}
