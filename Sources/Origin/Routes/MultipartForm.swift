import Glibc
import HTTP
import RichPushAPI

/// A body of `multipart/form-data` (RFC 7578).
struct MultipartForm: Sendable {
  /// A field, or a file if it has a file's name.
  struct Part: Sendable {
    let name: String
    let fileName: String?
    let content: ArraySlice<UInt8>
  }

  let parts: [Part]

  /// The most bytes of a form with a file.
  static let largest = 16 << 20
  private static let mostParts = 64
  private static let longestHead = 8 << 10

  /// Whether a request's body says that it is a form.
  static func isForm(_ request: Request) -> Bool {
    let type = request.fields["Content-Type"]?.prefix { $0 != ";" }.lowercased() ?? ""
    return type.filter { !$0.isWhitespace } == "multipart/form-data"
  }

  /// Parses a body of this `Content-Type`.
  ///
  /// - Throws: if it is malformed.
  init(_ body: [UInt8], type: String) throws(ServiceError) {
    guard let boundary = Self.boundary(type), let parts = Self.parts(body, boundary) else {
      throw ServiceError(.invalidRequest, "The body is not the form that its boundary divides.")
    }
    self.parts = parts
  }

  /// The file, if there is one and only one.
  ///
  /// - Throws: if there are several.
  func file() throws(ServiceError) -> Part? {
    let files = parts.filter { $0.fileName != nil }
    guard files.count <= 1 else {
      throw ServiceError(.invalidRequest, "The form has \(files.count) files; send one.")
    }
    return files.first
  }

  private static func boundary(_ type: String) -> String? {
    guard let match = type.firstMatch(of: /(?i)boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/) else {
      return nil
    }
    return String(match.1 ?? match.2 ?? "")
  }

  private static func parts(_ body: [UInt8], _ boundary: String) -> [Part]? {
    let delimiter = Array("--\(boundary)".utf8)
    // The first delimiter needs no line before it.
    var end: Range<Int>? =
      body.starts(with: delimiter)
      ? 0..<delimiter.count : range(of: lineEnd + delimiter, in: body, from: 0)
    var parts: [Part] = []
    while let start = end?.upperBound {
      if body[start...].starts(with: "--".utf8) { return parts }
      guard body[start...].starts(with: lineEnd), parts.count < mostParts,
        let next = range(of: lineEnd + delimiter, in: body, from: start),
        let blank = range(of: lineEnd + lineEnd, in: body, from: start),
        blank.upperBound <= next.lowerBound, blank.lowerBound - start <= longestHead,
        let head = String(validating: body[start..<blank.lowerBound], as: UTF8.self),
        let (name, fileName) = names(head)
      else { return nil }
      let content = body[blank.upperBound..<next.lowerBound]
      parts.append(Part(name: name, fileName: fileName, content: content))
      end = next
    }
    return nil
  }

  private static let lineEnd: [UInt8] = [0x0D, 0x0A]

  private static func range(of pattern: [UInt8], in body: [UInt8], from start: Int) -> Range<Int>? {
    body.withUnsafeBytes { body in
      var index = start
      while index + pattern.count <= body.count, let base = body.baseAddress,
        let first = memchr(base + index, Int32(pattern[0]), body.count - index)
      {
        index = UnsafeRawPointer(first) - base
        if body[index...].starts(with: pattern) { return index..<(index + pattern.count) }
        index += 1
      }
      return nil
    }
  }

  /// The names of a part and of its file, by the fields of the part.
  private static func names(_ head: String) -> (String, String?)? {
    for line in head.split(separator: "\r\n") {
      guard let start = line.prefixMatch(of: /(?i)content-disposition:\s*form-data/) else {
        continue
      }
      let parameters = line[start.range.upperBound...]
      let name = parameters.firstMatch(of: /(?i);\s*name=(?:"([^"]*)"|([^\s;"]+))/)
      let file = parameters.firstMatch(of: /(?i);\s*filename=(?:"([^"]*)"|([^\s;"]+))/)
      guard let name else { return nil }
      // RFC 7578 has no `filename*`; who sends it, sends a file all the same.
      let isFile = file != nil || parameters.contains(/(?i);\s*filename\*=/)
      return (String(name.1 ?? name.2 ?? ""), isFile ? String(file?.1 ?? file?.2 ?? "") : nil)
    }
    return nil
  }
}
