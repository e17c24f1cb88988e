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
