import Foundation
import RichPushClient
import Testing

/// A program from PyPI that judges us; `make tools` installs it.
enum Tool {
  /// Runs it to its end, as `Child.run` does.
  static func run(
    _ name: String, _ arguments: [String], environment: [String: String] = [:],
    input: [UInt8] = []
  ) async throws -> Child.Result {
    let path = Package.root.appending(path: ".build/tools/bin/\(name)").path
    try #require(FileManager.default.isExecutableFile(atPath: path), "make tools installs \(name)")
    return try await Child.run(
      path, arguments, environment: environment, inputBytes: input)
  }
}

extension RunningServer {
  /// The Authorization field of a user of the demonstration, whose password is the name.
  static func credentials(_ user: String, _ password: String? = nil) -> String {
    "Authorization: Basic " + Data("\(user):\(password ?? user)".utf8).base64EncodedString()
  }

  /// Asks for something on a connection of its own, with these fields.
  func get(_ target: String, _ fields: String...) throws -> RawConnection.Answer {
    let lines = fields.map { $0 + "\r\n" }.joined()
    return try RawConnection(port: port).exchange("GET \(target) HTTP/1.1\r\n\(lines)")
  }

  /// Signs a browser in, and returns its cookie, such as `richpush=…`.
  func signIn(_ user: String, _ password: String) throws -> String {
    let body = #"{"username":"\#(user)","password":"\#(password)"}"#
    let connection = try RawConnection(port: port)
    let answer = String(
      decoding: try connection.bytes(
        "POST /api/session HTTP/1.1\r\nUser-Agent: Browser\r\nConnection: close\r\n"
          + "Content-Length: \(body.utf8.count)\r\n", body: Array(body.utf8)), as: UTF8.self)
    let cookie = try #require(answer.firstMatch(of: /Set-Cookie: (richpush=[\w-]+);/), "\(answer)")
    return String(cookie.1)
  }

  /// What a user gets to know of a notification, as JSON text.
  func details(of id: Int, _ query: String = "", user: String) throws -> String {
    try get("/api/notifications/\(id)/details\(query)", Self.credentials(user)).text
  }

  /// The signed addresses of a notification of the user's, by rendition.
  func links(
    of id: Int, _ query: String = "", user: String = "alice"
  ) throws -> [String: String] {
    let text = try details(of: id, query, user: user)
    let details = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    guard case .object(let links) = details.links else { return [:] }
    return links.compactMapValues(\.text)
  }

  /// The value of a line of `/metrics`, such as `richpush_http_connections`; 0 without one.
  func measured(_ sample: String) throws -> Double {
    let lines = try get("/metrics").text.split(separator: "\n")
    let line = lines.first { $0.hasPrefix(sample + " ") }
    return line.flatMap { Double($0.dropFirst(sample.count + 1)) } ?? 0
  }
}
