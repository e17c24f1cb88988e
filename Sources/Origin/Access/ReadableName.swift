/// Names that nobody has chosen.
enum ReadableName {
  /// Random letters and digits, without those that people take for others.
  static func random(count: Int) -> String {
    let characters = Array("abcdefghjkmnpqrstuvwxyz23456789")
    return String((0..<count).map { _ in characters[Int.random(in: characters.indices)] })
  }
}
