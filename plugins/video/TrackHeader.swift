import Glibc
import MediaTypes
import PluginKit
import Primitives

/// The header of the first track of an MP4 (`tkhd`, ISO 14496-12 section 8.3.2).
enum TrackHeader {
  /// Sets which way up its pictures are shown, so that all players agree about it.
  static func write(_ orientation: FilmOrientation, to path: String) throws(Refusal) {
    guard let file = OpenFile(path),
      let box = Boxes(file)["moov"]?["trak"]?["tkhd"],
      case let octets = box.octets(96), let version = octets[0],
      // The fields before the matrix have 40 bytes, and twelve more in version 1; width and height follow it.
      case let offset = version == 1 ? 52 : 40,
      let width = octets.big(at: offset + 36, count: 2),
      let height = octets.big(at: offset + 40, count: 2)
    else { throw FFmpeg.damaged }
    let bytes = orientation.matrix(width: width, height: height).flatMap { number in
      (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    guard let target = try? FileDescriptor(path, O_WRONLY),
      pwrite(target.number, bytes, bytes.count, off_t(box.range.lowerBound + offset)) == bytes.count
    else { throw Refusal(status: 503, "The server can't write the film.") }
  }
}

/// The edit lists of a film (`elst`, ISO 14496-12 section 8.6.6).
enum EditLists {
  /// More edits than a film has that people make; `ffmpeg` takes memory for each.
  private static let mostEdits = 200

  /// - Throws: if `ffmpeg` cannot follow a list: it is too long, or has a gap after a piece, where `ffmpeg` shows
  ///   the film's beginning, even if that is hidden.
  static func check(_ path: String) throws(Refusal) {
    guard let file = OpenFile(path), let movie = Boxes(file)["moov"] else { return }
    for track in movie.all("trak") {
      guard let list = track["edts"]?["elst"] else { continue }
      let number = list.octets(1)[0] == 1 ? 8 : 4
      let size = 2 * number + 4
      let count = min(list.octets(8).big(at: 4, count: 4) ?? 0, (list.range.count - 8) / size)
      guard count <= mostEdits else {
        throw Refusal(
          "The film is made of \(count) pieces; at most \(mostEdits) can be put together. Export it as a new film."
        )
      }
      let octets = list.octets(8 + max(count, 0) * size)
      let gaps = (0..<max(count, 0)).map {
        octets[8 + $0 * size + number].map { $0 >= 0x80 } ?? false
      }
      guard !gaps.drop(while: { $0 }).contains(true) else {
        throw Refusal("The film has a gap after one of its pieces. Export it as a new film.")
      }
    }
  }
}
