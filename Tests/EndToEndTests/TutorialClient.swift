import Foundation

/// The tutorials' iOS client, byte for byte: Azure's "Notify Users" and "Rich Push" on iOS 8.
struct TutorialClient {
  let connection: RawConnection
  let port: Int
  let user: String
  let password: String

  init(port: Int, user: String, password: String? = nil) throws {
    connection = try RawConnection(port: port)
    (self.port, self.user, self.password) = (port, user, password ?? user)
  }

  /// `POST /api/register?handle=…`, as `retrieveOrRequestRegistrationIdWithDeviceToken:` sends it.
  func requestRegistration(handle: String) throws -> RawConnection.Answer {
    try send("POST", "/api/register?handle=\(handle)", length: 0)
  }

  /// The registration id, as the client finds it: without the first and the last character.
  static func registrationID(in answer: RawConnection.Answer) -> String {
    String(answer.text.dropFirst().dropLast())
  }

  /// `PUT /api/register/<id>`, pretty-printed as `NSJSONWritingPrettyPrinted` does.
  func upsertRegistration(
    id: String, handle: String, tags: [String] = []
  ) throws -> RawConnection.Answer {
    let list = tags.map { "    \"\($0)\"" }.joined(separator: ",\n")
    let body = """
      {
        "Platform" : "apns",
        "Handle" : "\(handle)",
        "Tags" : [
      \(list)
        ]
      }
      """
    return try send(
      "PUT", "/api/register/\(id)", body: Array(body.utf8), type: "application/json")
  }

  func deleteRegistration(id: String) throws -> RawConnection.Answer {
    try send("DELETE", "/api/register/\(id)")
  }

  /// "Rich Push": `POST /api/notifications` with nothing in it.
  func sendRichNotification() throws -> RawConnection.Answer {
    try send("POST", "/api/notifications", length: 0)
  }

  /// "Notify Users": `POST /api/notifications?pns=…&to_tag=…` with a JSON string.
  func notify(_ tag: String, text: String) throws -> RawConnection.Answer {
    try send(
      "POST", "/api/notifications?pns=apns&to_tag=\(tag)", body: Array("\"\(text)\"".utf8),
      type: "application/json;charset=utf-8")
  }

  /// The rich push handler: `richId` read with `intValue`, fetched by `%d`.
  func fetch(_ id: Int) throws -> RawConnection.Answer {
    try send("GET", "/api/notifications/\(id)")
  }

  func send(
    _ method: String, _ target: String, body: [UInt8] = [], type: String? = nil, length: Int? = nil
  ) throws -> RawConnection.Answer {
    let credentials = Data("\(user):\(password)".utf8).base64EncodedString()
    let length = body.isEmpty ? length : body.count
    let lines = [
      "\(method) \(target) HTTP/1.1",
      "Host: 127.0.0.1:\(port)",
      type.map { "Content-Type: \($0)" },
      "Connection: keep-alive",
      "Accept: */*",
      "User-Agent: PushToUsers/1 CFNetwork/711.1.16 Darwin/14.0.0",
      "Accept-Language: en-us",
      length.map { "Content-Length: \($0)" },
      "Authorization: Basic \(credentials)",
      "Accept-Encoding: gzip, deflate",
    ].compactMap { $0 }
    connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
    return try connection.answer()
  }
}
