extension Sound {
  /// ISO base media (ISO 14496-12): a sound track of MP4, M4A, 3GP or QuickTime.
  static func mp4(_ source: some ByteSource) throws(SoundError) -> Sound {
    guard let movie = Boxes(source: source, range: 0..<source.size)["moov"] else {
      throw .incomplete("no moov box")
    }
    let handlers = movie.all("trak").map { $0["mdia"]?.handler }
    if Set(["soun", "vide"]).isSubset(of: handlers) {
      throw SoundError(reason: "This is a film, not a sound. Export its sound as M4A.")
    }
    guard let track = movie.soundTrack else {
      throw SoundError(reason: "This file has no sound in it. Drop an M4A, MP3, WAV or AIFF.")
    }
    guard !track.isProtected else {
      throw SoundError(
        reason: "This M4A is protected against copying, so phones can't play it. "
          + "Use a version without protection.")
    }
    return try Sound(
      type: MediaType(known: "audio/mp4"), codec: track.codec, channels: track.channels,
      sampleRate: track.sampleRate, duration: TrackMeasure(source, movie, track).seconds)
  }
}

/// How long the samples of a track are that are in the file and that its edit list plays.
struct TrackMeasure {
  /// Nil when it cannot be told.
  let seconds: Double?

  init<Source: ByteSource>(_ source: Source, _ movie: Boxes<Source>, _ track: SoundTrack<Source>) {
    var (count, ticks, longest) = (0, 0, 0)
    var overflows = false
    let samples = MediaSamples(source: source, track: track, movie: movie)
    let areFragments = samples.forEachRun { run in
      let length = run.ticks.multipliedReportingOverflow(by: run.count)
      let sum = ticks.addingReportingOverflow(length.partialValue)
      overflows = length.overflow || sum.overflow
      (count, ticks, longest) = (count + run.count, sum.partialValue, max(longest, run.ticks))
      return !overflows
    }
    guard let areFragments, !overflows, track.scale > 0 else {
      seconds = nil
      return
    }
    var length = Double(ticks) / Double(track.scale)
    if let packetSamples = track.packetSamples, track.packetRate > 0 {
      let packet = Double(packetSamples) / Double(track.packetRate)
      let whole = Double(count) * packet
      // All packets of AAC are whole, of others the last one may be shorter. If more differs, the
      // track's clock is not that of the sound.
      if track.codec == .aac || abs(whole - length) > 2 * packet { length = whole }
    }
    // As FFmpeg does, no edit list is applied to fragments, whose own times say when they play.
    if !areFragments, ticks > 0, let clock = movie["mvhd"]?.clock,
      let edits = track.edits(movieScale: clock.scale)
    {
      let packet = max(1, longest)
      let played = edits.reduce(0.0) { sum, edit in
        let end = edit.upperBound < ticks ? (edit.upperBound + packet - 1) / packet * packet : ticks
        return sum + Double(max(0, min(end, ticks) - edit.lowerBound))
      }
      length *= played / Double(ticks)
    }
    seconds = length
  }
}
