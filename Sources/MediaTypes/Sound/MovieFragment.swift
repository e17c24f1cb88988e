/// What a fragment leaves out of each sample (ISO 14496-12 section 8.8.3).
struct FragmentDefaults {
  var ticks = 0
  var size = 0

  init(_ boxes: [Boxes<some ByteSource>], track: Int) {
    for box in boxes {
      let octets = box.octets(24)
      guard octets.big(at: 4, count: 4) == track else { continue }
      ticks = octets.big(at: 12, count: 4) ?? 0
      size = octets.big(at: 16, count: 4) ?? 0
    }
  }
}

/// The content of a `moof` box (ISO 14496-12 section 8.8.4).
struct MovieFragment {
  private let content: [UInt8]
  /// Where the box begins in the file.
  private let start: Int

  init(_ content: [UInt8], at start: Int) { (self.content, self.start) = (content, start) }

  /// The samples of a track, a run for each or for several.
  func runs(of track: Int, _ defaults: FragmentDefaults) -> [SampleRun] {
    var runs: [SampleRun] = []
    for part in Chunks(content, in: 0..<content.size, layout: .iso) where part.id == "traf" {
      add(Boxes(source: content, range: part.body), of: track, defaults, to: &runs)
    }
    return runs
  }

  /// Adds the samples of a `traf` box, if it is about the track.
  private func add(
    _ traf: Boxes<[UInt8]>, of track: Int, _ defaults: FragmentDefaults, to runs: inout [SampleRun]
  ) {
    guard let head = traf["tfhd"]?.octets(40), let flags = head.big(at: 0, count: 4),
      head.big(at: 4, count: 4) == track
    else { return }
    var (place, defaults, base) = (8, defaults, start)
    if flags & 1 != 0 {
      guard let offset = head.big(at: place, count: 8) else { return }
      (base, place) = (offset, place + 8)
    }
    if flags & 2 != 0 { place += 4 }
    if flags & 8 != 0 {
      defaults.ticks = head.big(at: place, count: 4) ?? 0
      place += 4
    }
    if flags & 16 != 0 { defaults.size = head.big(at: place, count: 4) ?? 0 }
    var offset = base
    for run in Chunks(content, in: traf.range, layout: .iso) where run.id == "trun" {
      add(content.octets(run.body), from: base, at: &offset, defaults, to: &runs)
    }
  }

  /// Adds the samples of a `trun` box, which stand at `offset` unless it says another place.
  private func add(
    _ run: Octets, from base: Int, at offset: inout Int, _ defaults: FragmentDefaults,
    to runs: inout [SampleRun]
  ) {
    guard let flags = run.big(at: 0, count: 4), let count = run.big(at: 4, count: 4) else { return }
    var place = 8
    if flags & 1 != 0 {
      // A signed number of 32 bits.
      let distance = run.big(at: place, count: 4).map { Int(Int32(truncatingIfNeeded: $0)) } ?? 0
      let (sum, overflows) = base.addingReportingOverflow(distance)
      guard !overflows else { return }
      (offset, place) = (sum, place + 4)
    }
    if flags & 4 != 0 { place += 4 }
    let (hasTicks, hasSize) = (flags & 0x100 != 0, flags & 0x200 != 0)
    guard hasTicks || hasSize else {
      let run = SampleRun(
        offset: offset, size: defaults.size, count: count, ticks: defaults.ticks)
      runs.append(run)
      offset = run.end
      return
    }
    let row = [0x100, 0x200, 0x400, 0x800].count { flags & $0 != 0 } * 4
    for index in 0..<min(count, max(0, run.count - place) / row) {
      let sample = place + index * row
      let ticks = hasTicks ? run.big(at: sample, count: 4) ?? 0 : defaults.ticks
      let size =
        hasSize ? run.big(at: sample + (hasTicks ? 4 : 0), count: 4) ?? 0 : defaults.size
      let run = SampleRun(offset: offset, size: size, count: 1, ticks: ticks)
      runs.append(run)
      offset = run.end
    }
  }
}
