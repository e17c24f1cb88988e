/// The pieces of a track that are played (`elst` of ISO base media, ISO 14496-12 section 8.6.6).
package struct EditList {
  /// A piece of the track, or a gap.
  package struct Edit {
    /// Units of the movie's time; 0 means to the end.
    let duration: Int
    /// Units of the track's time; nil for a gap.
    package let start: Int?
  }

  /// How many edits the list has.
  package let count: Int
  /// The first 1,024 of them.
  package let edits: [Edit]

  private static let mostRead = 1024

  /// Reads the list in a `trak` box; nil if there is none.
  package init?(of track: Boxes<some ByteSource>) {
    guard let list = track["edts"]?["elst"], case let head = list.octets(8) else { return nil }
    let width = head[0] == 1 ? 8 : 4
    let row = 2 * width + 4
    count = min(head.big(at: 4, count: 4) ?? 0, max(0, list.range.count - 8) / row)
    let read = min(count, Self.mostRead)
    let octets = list.octets(8 + read * row)
    edits = (0..<read).map { index in
      let place = 8 + index * row
      let start = octets.big(at: place + width, count: width)
      let isNegative = octets[place + width].map { $0 >= 0x80 } ?? true
      return Edit(
        duration: octets.big(at: place, count: width) ?? .max, start: isNegative ? nil : start)
    }
  }
}
