import MediaTypes
import PluginKit

/// The edit lists of a film's tracks.
enum EditLists {
  /// More edits than a film has that people make; `ffmpeg` takes memory for each.
  private static let mostEdits = 200

  /// - Throws: if `ffmpeg` cannot follow a list: it is too long, or has a gap after a piece, where `ffmpeg` shows
  ///   the film's beginning, even if that is hidden.
  static func check(_ path: String) throws(Refusal) {
    guard let file = OpenFile(path), let movie = Boxes(file)["moov"] else { return }
    for list in movie.all("trak").compactMap({ EditList(of: $0) }) {
      guard list.count <= mostEdits else {
        throw Refusal(
          "The film is made of \(list.count) pieces; at most \(mostEdits) can be put together. Export it as a new "
            + "film.")
      }
      let areGaps = list.edits.map { $0.start == nil }
      guard !areGaps.drop(while: { $0 }).contains(true) else {
        throw Refusal("The film has a gap after one of its pieces. Export it as a new film.")
      }
    }
  }
}
