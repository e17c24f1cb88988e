/// The header of a plugin's answer (RFC 3875 section 6.2).
struct AnswerHead: Sendable {
  let status: Int
  let contentType: String?
  let location: String?
  /// `asset`, or a path under the call's own folder.
  let sendFile: String?
  /// How many bytes follow, when the plugin says so.
  let contentLength: Int?
  let fields: [(name: String, value: String)]
  let isStorable: Bool

  /// Headers beyond this are refused.
  static let mostBytes = 16_384

  /// Reads the lines before the empty one; fails with a sentence for the log.
  init(_ bytes: [UInt8]) throws(Malformation) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Malformation("its header is not UTF-8")
    }
    var (status, sendFile, length): (String?, String?, String?)
    var (contentType, location): (String?, String?)
    var fields: [(name: String, value: String)] = []
    for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.isEmpty { continue }
      guard let field = HeaderField(line: line) else {
        throw Malformation("its header has the line \(Malformation.quoted(line))")
      }
      switch field.name {
      case "content-type": try field.become(the: &contentType)
      case "status": try field.become(the: &status)
      case "location": try field.become(the: &location)
      case "content-length": try field.become(the: &length)
      case "x-sendfile": try field.become(the: &sendFile)
      case let name where HeaderField.allowed.contains(name): fields.append((name, field.value))
      default: continue
      }
    }
    guard contentType != nil || location != nil || status != nil else {
      throw Malformation("its header has neither Content-Type nor Location nor Status")
    }
    (self.contentType, self.location, self.sendFile) = (contentType, location, sendFile)
    self.status = try AnswerHead.status(status, location: location)
    contentLength = try AnswerHead.length(length)
    self.fields = fields
    isStorable = !fields.contains { name, value in
      name == "cache-control"
        && value.lowercased().utf8.split { ", =".utf8.contains($0) }
          .contains { $0.elementsEqual("no-store".utf8) || $0.elementsEqual("private".utf8) }
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
