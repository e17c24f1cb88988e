/// What somebody probably meant who typed a word that does not exist.
enum Nearest {
  /// `" (did you mean 'folder'?)"`, or nothing when no word comes near.
  static func hint(to word: String, among known: [String]) -> String {
    let near = known.map { (word: $0, distance: distance(word, $0)) }
      .filter { $0.distance <= max(1, word.count / 3) }
      .min { $0.distance < $1.distance }
    return near.map { " (did you mean '\($0.word)'?)" } ?? ""
  }

  /// How many letters must be added, dropped or changed (Levenshtein).
  private static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (line, letter) in left.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in right.indices {
        let changed = diagonal + (letter == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(changed, row[column] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
