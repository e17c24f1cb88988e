import Glibc

/// Answers the server's requests with `answer`: the whole main program of a plugin.
///
/// Started for one request (CGI) it answers that and exits. Started as a resident worker it
/// answers one request after the other until the server retires it. An error that is
/// not a ``Refusal`` goes to the log, and the caller gets a 502.
///
/// - Parameter answer: Makes the answer of one request.
public func serve(_ answer: @Sendable (PluginRequest) throws -> PluginResponse) -> Never {
  exit(
    FastCGI.isWanted
      ? FastCGI.answerAll(on: STDIN_FILENO, with: answer) : CGI.answerOnce(with: answer))
}

/// What `answer` says to the request, with the manifest for `describe` and refusals as answers.
func response(
  of answer: (PluginRequest) throws -> PluginResponse, body: [UInt8],
  parameter: (String) -> String?
) throws -> PluginResponse {
  do {
    let request = try PluginRequest(body: body, parameter: parameter)
    guard request.verb == .describe else { return try answer(request) }
    guard let manifest = contents(ofFile: "plugin.json") else {
      return .refusal(404, "This plugin has no plugin.json.")
    }
    return .document(manifest, type: "application/json")
  } catch let refusal as Refusal {
    return .refusal(refusal.status, refusal.sentence)
  }
}

private func contents(ofFile path: String) -> [UInt8]? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  return try? Descriptor(number: descriptor).read(atMost: 1 << 20)
}
