import Origin
import RichPushAPI

extension Suggestion {
  /// `" (did you mean 'folder'?)"`, or nothing when no word comes near.
  static func hint(to word: String, among known: [String]) -> String {
    self.word(to: word, among: known).map { " (did you mean '\($0)'?)" } ?? ""
  }
}
