/// Samples of a track that stand one behind the other, are equally long and last equally long.
///
/// A sample of ISO base media is a packet of a codec, or one instant of uncompressed sound.
struct SampleRun {
  let offset: Int
  /// Bytes of each.
  let size: Int
  let count: Int
  /// Units of the track's time that each lasts.
  let ticks: Int

  /// Where the run ends; the largest number if that cannot be told.
  var end: Int {
    let bytes = size.multipliedReportingOverflow(by: count)
    let end = offset.addingReportingOverflow(bytes.partialValue)
    return bytes.overflow || end.overflow ? .max : end.partialValue
  }
}

/// The samples of a track that are whole in the file, in the order of playing, from the tables of its
/// `moov` box (ISO 14496-12 section 8.7) and from its fragments (section 8.8).
struct MediaSamples<Source: ByteSource> {
  let source: Source
  let track: SoundTrack<Source>
  let movie: Boxes<Source>

  /// The most fragments that are read: more than a day with one for each second.
  private static var mostFragments: Int { 1 << 17 }
  /// The most packets that are read: more than a week of 20 milliseconds each.
  private static var mostSamples: Int { 1 << 25 }
  /// The most bytes of a `moof` box.
  private static var mostBytes: Int { 1 << 22 }

  /// Calls `body` for each run until it returns false.
  ///
  /// - Returns: Whether any sample stood in a fragment; nil when there are more than are read.
  func forEachRun(_ body: (SampleRun) -> Bool) -> Bool? {
    var goesOn = true
    guard (track.tables["stsz"]?.range.count ?? 0) / 4 <= Self.mostSamples else { return nil }
    forEachTableRun { run in
      goesOn = whole(run).map(body) ?? true
      return goesOn
    }
    guard goesOn, let extends = movie["mvex"] else { return false }
    let defaults = FragmentDefaults(extends.all("trex"), track: track.id)
    var hasFragments = false
    var chunks = 0
    for chunk in Chunks(
      source, in: 0..<source.size, layout: .iso, most: 2 * Self.mostFragments)
    {
      chunks += 1
      guard chunk.id == "moof" else { continue }
      guard chunk.body.count <= Self.mostBytes else { return nil }
      let moof = MovieFragment(source.bytes(chunk.body), at: chunk.range.lowerBound)
      for run in moof.runs(of: track.id, defaults) {
        guard let run = whole(run) else { continue }
        hasFragments = true
        guard body(run) else { return hasFragments }
      }
    }
    return chunks < 2 * Self.mostFragments ? hasFragments : nil
  }

  /// The part of a run that the file has; nil if it has none.
  private func whole(_ run: SampleRun) -> SampleRun? {
    guard run.size > 0, run.offset >= 0, run.offset < source.size else { return nil }
    let count = min(run.count, (source.size - run.offset) / run.size)
    guard count > 0 else { return nil }
    return SampleRun(offset: run.offset, size: run.size, count: count, ticks: run.ticks)
  }

  /// The samples of the tables; they are as many as the shortest table has.
  private func forEachTableRun(_ body: (SampleRun) -> Bool) {
    let tables = track.tables
    guard let sizeBox = tables["stsz"],
      var runs = tables["stsc"].map({ NumberTable($0, columns: 3) }),
      var chunks = tables["stco"].map({ NumberTable($0) })
        ?? tables["co64"].map({ NumberTable($0, width: 8) }),
      var times = tables["stts"].map({ NumberTable($0, columns: 2) })
    else { return }
    let size = sizeBox.octets(8).big(at: 4, count: 4) ?? 0
    var sizes = NumberTable(sizeBox, behind: 8)
    let total = size > 0 ? sizeBox.octets(12).big(at: 8, count: 4) ?? 0 : sizes.rows
    var (sample, run, time, timesLeft) = (0, 0, 0, times[0, 0] ?? 0)
    for index in 0..<chunks.rows {
      while let next = runs[run + 1, 0], next <= index + 1 { run += 1 }
      guard sample < total, let inChunk = runs[run, 1], var offset = chunks[index, 0]
      else { return }
      var left = min(inChunk, total - sample)
      while left > 0 {
        while timesLeft == 0, time + 1 < times.rows {
          time += 1
          timesLeft = times[time, 0] ?? 0
        }
        guard timesLeft > 0, let ticks = times[time, 1],
          let bytes = size > 0 ? size : sizes[sample, 0]
        else { return }
        let count = size > 0 ? min(left, timesLeft) : 1
        let run = SampleRun(offset: offset, size: bytes, count: count, ticks: ticks)
        guard body(run) else { return }
        (sample, left, timesLeft) = (sample + count, left - count, timesLeft - count)
        // The rest of the chunk is not in the file.
        guard run.end < source.size else { break }
        offset = run.end
      }
      sample += left
    }
  }
}

/// A table of numbers in a box, which begins with its number of rows; read a stretch at a time.
struct NumberTable<Source: ByteSource> {
  /// How many rows there are, at most as many as fit the box.
  let rows: Int
  private var window: ByteWindow<Source>
  private let start: Int
  private let width: Int
  private let columns: Int

  init(_ box: Boxes<Source>, width: Int = 4, columns: Int = 1, behind head: Int = 4) {
    let octets = box.octets(head + 4)
    start = box.range.lowerBound + head + 4
    rows = min(
      octets.big(at: head, count: 4) ?? 0, max(0, box.range.upperBound - start) / (width * columns))
    (self.width, self.columns) = (width, columns)
    window = ByteWindow(box.source)
  }

  /// A number; nil beyond the last row.
  subscript(row: Int, column: Int) -> Int? {
    mutating get {
      guard row < rows else { return nil }
      let place = window.place(of: start + (row * columns + column) * width, count: width)
      return window.octets.big(at: place, count: width)
    }
  }
}
