/// The header of a plugin's answer (RFC 3875 section 6.2).
struct AnswerHead {
  let status: Int
  let contentType: String?
  let location: String?
  /// `asset`, or a path under the call's own folder.
  let sendFile: String?
  /// How many bytes follow, when the plugin says so.
  let contentLength: Int?
  let fields: [(name: String, value: String)]
  let isStorable: Bool

  /// What a header has at most once.
  private static let single: Set = [
    "content-length", "content-type", "location", "status", "x-sendfile",
  ]

  /// Headers beyond this are refused.
  static let mostBytes = 16_384

  /// Reads the lines before the empty one; fails with a sentence for the log.
  init(_ bytes: [UInt8]) throws(Malformation) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Malformation("its header is not UTF-8")
    }
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
    var known: [String: String] = [:]
    var fields: [(name: String, value: String)] = []
    for line in lines {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.isEmpty { continue }
      guard let field = HeaderField(line: line) else {
        throw Malformation("its header has the line \(Malformation.quoted(line))")
      }
      if AnswerHead.single.contains(field.name) {
        guard known.updateValue(field.value, forKey: field.name) == nil else {
          throw Malformation("its header has \(field.name) twice")
        }
      } else if HeaderField.allowed.contains(field.name) {
        fields.append((field.name, field.value))
      }
    }
    guard known["content-type"] != nil || known["location"] != nil || known["status"] != nil else {
      throw Malformation("its header has neither Content-Type nor Location nor Status")
    }
    contentType = known["content-type"]
    location = known["location"]
    sendFile = known["x-sendfile"]
    status = try AnswerHead.status(known["status"], location: location)
    contentLength = try AnswerHead.length(known["content-length"])
    self.fields = fields
    isStorable = !fields.contains { name, value in
      name == "cache-control"
        && value.lowercased().split { $0 == "," || $0 == " " || $0 == "=" }
          .contains { $0 == "no-store" || $0 == "private" }
    }
  }

  private static func length(_ text: String?) throws(Malformation) -> Int? {
    guard let text else { return nil }
    guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(text) else {
      throw Malformation("its Content-Length is \(Malformation.quoted(text.utf8[...]))")
    }
    return length
  }

  private static func status(_ text: String?, location: String?) throws(Malformation) -> Int {
    guard let text else { return location == nil ? 200 : 302 }
    let code = text.prefix { $0 != " " }
    guard code.utf8.count == 3, let status = Int(code), 100...599 ~= status else {
      throw Malformation("its Status is \(Malformation.quoted(text.utf8[...]))")
    }
    return status
  }
}
