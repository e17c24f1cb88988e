import Foundation

/// The sentence in a refusal's content: plain text, or the detail of a problem (RFC 9457).
struct RefusalText {
  let type: String
  let body: [UInt8]

  private struct Problem: Decodable {
    var title, detail: String?
  }

  /// At most 500 characters on one line; nil when there is none.
  var sentence: String? {
    let text =
      switch MediaRange.essence(of: type) {
      case "application/problem+json", "application/json": problem
      case "text/plain": String(validating: body.prefix(4096), as: UTF8.self)
      default: nil as String?
      }
    let line = text.map { text in
      String(text.prefix(500).map { $0.isNewline || $0 == "\0" ? " " : $0 })
        .trimmingCharacters(in: .whitespaces)
    }
    return line?.isEmpty == false ? line : nil
  }

  private var problem: String? {
    guard body.count <= 65_536,
      let problem = try? JSONDecoder().decode(Problem.self, from: Data(body))
    else { return nil }
    return problem.detail ?? problem.title
  }
}
