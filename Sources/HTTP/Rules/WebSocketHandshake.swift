import COpenSSL
import FoundationEssentials

extension Response {
  /// Turns the connection into a WebSocket, over which a source sends (RFC 6455, section 4.2).
  ///
  /// The request must be one that ``WebSocketHandshake/refusal(of:)`` has nothing against.
  package static func webSocket(_ source: any EventSource, to request: Request) -> Response {
    let key = request.fields["Sec-WebSocket-Key"] ?? ""
    return Response(
      101,
      fields: [
        "Upgrade": "websocket", "Connection": "Upgrade",
        "Sec-WebSocket-Accept": WebSocketHandshake.answer(to: key),
      ],
      body: .events(source))
  }
}

/// The opening handshake of a WebSocket.
package enum WebSocketHandshake {
  /// Why a request is no handshake; nil if it is one.
  package static func refusal(of request: Request) -> Response? {
    let fields = request.fields
    guard request.method == "GET", fields.lists("Connection", "upgrade"),
      fields.lists("Upgrade", "websocket")
    else {
      return .problem(
        426, "This path is for WebSockets: send an upgrade (RFC 6455).",
        fields: ["Upgrade": "websocket", "Connection": "Upgrade"])
    }
    guard fields["Sec-WebSocket-Version"] == "13" else {
      return .problem(
        426, "The only supported version of WebSocket is 13.",
        fields: ["Sec-WebSocket-Version": "13"])
    }
    guard let key = fields["Sec-WebSocket-Key"], key.utf8.count == 24,
      Data(base64Encoded: key)?.count == 16
    else { return .problem(400, "Sec-WebSocket-Key must be 16 bytes in Base64.") }
    return nil
  }

  /// What shows that the key was read: `Sec-WebSocket-Accept`.
  static func answer(to key: String) -> String {
    let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    var digest = [UInt8](repeating: 0, count: 20)
    copenssl_sha1(text, text.utf8.count, &digest)
    return Data(digest).base64EncodedString()
  }
}

extension Fields {
  /// Whether the list in a field has a token, in lower case here.
  fileprivate func lists(_ name: String, _ token: String) -> Bool {
    values(of: name).contains { value in
      value.lowercased().split(separator: ",").contains {
        $0.filter { $0 != " " && $0 != "\t" } == token
      }
    }
  }
}
