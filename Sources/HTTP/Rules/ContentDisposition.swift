/// The Content-Disposition of a representation (RFC 6266).
enum ContentDisposition {
  /// Shown in place; saved under the name, of which only its last path component is told.
  static func inline(_ fileName: String) -> String {
    let name =
      fileName.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
    let plain = String(
      String.UnicodeScalarView(
        name.unicodeScalars.map { scalar in
          switch scalar {
          case "\"", "%", ";": "_"
          case " "..."~": scalar
          default: "_"
          }
        }))
    guard plain != name else { return "inline; filename=\"\(plain)\"" }
    return "inline; filename=\"\(plain)\"; filename*=UTF-8''\(PercentEncoding.encode(name))"
  }
}
