import Glibc

/// One process for one request (RFC 3875).
enum CGI {
  /// Reads the request from the environment and standard input, writes the answer to standard
  /// output, and returns the exit status.
  static func answerOnce(with answer: (PluginRequest) throws -> PluginResponse) -> Int32 {
    do {
      let length = variable("CONTENT_LENGTH").flatMap { Int($0) } ?? 0
      let body = try Descriptor(number: STDIN_FILENO).read(atMost: length)
      let response = try response(of: answer, body: body, parameter: variable)
      try Descriptor(number: STDOUT_FILENO).write(response.encoded())
      return EXIT_SUCCESS
    } catch {
      try? Descriptor(number: STDERR_FILENO).write(Array("\(error)\n".utf8))
      return EX_SOFTWARE
    }
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
