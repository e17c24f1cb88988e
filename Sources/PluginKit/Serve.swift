import Glibc
import Primitives

/// Makes the response to one request.
typealias Handler = (PluginRequest) throws -> PluginResponse

/// Answers the server's requests with `handler`: the whole main program of a plugin.
///
/// Started for one request (CGI) it answers that one and exits. Started as a resident worker (FastCGI) it
/// answers one request after the other until the server ends the process. It answers the verb
/// ``PluginRequest/Verb/describe`` itself.
///
/// ```swift
/// serve { request in
///   guard !request.payload.isEmpty else { throw Refusal("The payload is the text of the card.") }
///   return .document(Array(request.payload.utf8), type: "text/plain")
/// }
/// ```
///
/// - Parameter handler: Makes the response to one request. A ``Refusal`` that it throws is the response;
///   any other error is logged by the server, and the caller gets a 502.
public func serve(_ handler: @escaping @Sendable (PluginRequest) throws -> PluginResponse) -> Never
{
  let status =
    if FastCGIWorker.isRequested {
      FastCGIWorker(handler: handler).run(listener: STDIN_FILENO)
    } else { CGI.run(handler) }
  exit(status)
}

/// The response to a request, with the manifest for `describe` and refusals as responses.
func response(
  of handler: Handler, body: [UInt8], parameter: (String) -> String?
) throws -> PluginResponse {
  do {
    let request = try PluginRequest(body: body, parameter: parameter)
    guard request.verb == .describe else { return try handler(request) }
    let largestManifest = 1 << 20
    // The server starts plugins in their own folder.
    guard
      let manifest = try? FileDescriptor("plugin.json", O_RDONLY).readAll(limit: largestManifest)
    else { return .refusal(404, "This plugin has no plugin.json.") }
    return .document(manifest, type: "application/json")
  } catch let refusal as Refusal {
    if let detail = refusal.detail {
      // Both modes: the server logs what a plugin writes to standard error.
      let line = Array("\(detail)\n".utf8)
      _ = write(STDERR_FILENO, line, line.count)
    }
    return .refusal(refusal.status, refusal.sentence)
  }
}

/// One process for one request (RFC 3875).
private enum CGI {
  // Kept for the life of the process: were they closed, files that the handler opens would take their
  // numbers, and programs that it starts would use those files as standard streams.
  private static let input = FileDescriptor(owning: STDIN_FILENO)
  private static let output = FileDescriptor(owning: STDOUT_FILENO)
  private static let errors = FileDescriptor(owning: STDERR_FILENO)

  /// Reads the request from the environment and standard input, writes the response to standard output, and
  /// returns the exit status.
  static func run(_ handler: Handler) -> Int32 {
    do {
      let length = variable("CONTENT_LENGTH").flatMap { Int($0) } ?? 0
      let body = try input?.readAll(limit: length) ?? []
      let response = try response(of: handler, body: body, parameter: variable)
      try response.encoded().withUnsafeBytes { try output?.write($0) }
      return EXIT_SUCCESS
    } catch {
      try? Array("\(error)\n".utf8).withUnsafeBytes { try errors?.write($0) }
      return EX_SOFTWARE
    }
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
