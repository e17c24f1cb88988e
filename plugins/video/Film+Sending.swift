import PluginKit

extension Film {
  /// Writes the film as phones play it: an MP4 that begins with its index, without metadata and other tracks, and
  /// without what its edit lists hide.
  ///
  /// The pictures are coded again only if hidden ones are needed to show the others.
  func send(to output: String) throws(Refusal) {
    let pictures = packets[picture]
    let isCoded = pictures.hidesSome
    do throws(Refusal) {
      try FFmpeg.run(
        ["-noautorotate"] + (packets.beginsEarly ? ["-copyts"] : []) + FFmpeg.input(path)
          + ["-map", "0:\(picture.index)"]
          + (isCoded ? try coding(of: pictures) : copying(pictures)) + soundOptions
          // The name by which iPhones play it.
          + (picture.codec == "hevc" ? ["-tag:v", "hvc1"] : [])
          + ["-map_metadata", "-1", "-map_metadata:s", "-1", "-map_chapters", "-1"]
          + ["-fflags", "+bitexact", "-flags", "+bitexact"]
          + ["-movflags", "+faststart", "-f", "mp4", output])
    } catch {
      throw isCoded && error == FFmpeg.slow ? Self.tooLongToCode : error
    }
    try TrackHeader.write(picture.orientation, to: output)
  }

  private static let tooLongToCode = Refusal(
    "This film was trimmed without being coded again, so what was cut off is still in it, and it is too long to "
      + "remove that here. Export it as a new film.")

  /// Copies packets, but those behind the last shown one.
  private func copying(_ packets: ShownPackets.Part) -> [String] {
    let isCut = packets.end < packets.count
    return ["-c:v", "copy"] + (isCut ? ["-bsf:v", "noise=drop=gt(n\\,\(packets.end - 1))"] : [])
  }

  /// Longer hidden sounds are more than the start that each coding needs.
  private static let longestStart = 0.15

  private var soundOptions: [String] {
    guard let sound else { return [] }
    let isCopied =
      PhoneCodings.plays(sound: sound) && packets[sound].hiddenSeconds <= Self.longestStart
    // Silence fills the gaps.
    let coding = ["-c:a", "aac", "-af", "atrim=start=0,aresample=async=1"]
    return ["-map", "0:\(sound.index)"] + (isCopied ? ["-c:a", "copy"] : coding)
  }

  /// The most pixels that are coded again, in all pictures together, by codec: about ten seconds of two processors.
  private static let mostPixels = ["h264": 700_000_000.0, "hevc": 350_000_000.0]
  /// The longest side of pictures that are coded again, and the shortest that it may become by ``mostPixels``.
  private static let codedSides = (longest: 1920.0, shortest: 480.0)
  /// The most that the pictures take, in bytes, and in bits a second.
  private static let mostBytes = 50_000_000.0
  private static let mostBits = 20_000_000.0

  /// Codes the shown pictures again, in the same codec and the same colours.
  private func coding(of packets: ShownPackets.Part) throws(Refusal) -> [String] {
    let (width, height) = picture.codedSize
    let pixels = Double(width * height * packets.shown)
    let longest = Double(max(width, height))
    let most = Self.mostPixels[picture.codec ?? ""] ?? 0
    let scale = min(1, Self.codedSides.longest / longest, (most / pixels).squareRoot())
    guard scale == 1 || longest * scale >= Self.codedSides.shortest else {
      throw Self.tooLongToCode
    }
    let (pixelWidth, pixelHeight) = picture.pixelRatio
    let size = "scale=w=\(evenSide(width, scale)):h=\(evenSide(height, scale))"
    let filters =
      ["trim=start=0"] + (scale < 1 ? [size] : []) + ["setsar=\(pixelWidth)/\(pixelHeight)"]
    let rate = Int(min(Self.mostBits, Self.mostBytes * 8 / max(duration, 1)))
    let coder =
      picture.codec == "hevc"
      ? ["libx265", "-preset", "ultrafast", "-crf", "22", "-x265-params", "log-level=error:info=0"]
      : ["libx264", "-preset", "superfast", "-crf", "20"]
    return ["-c:v"] + coder + ["-pix_fmt", picture.pixels ?? "yuv420p", "-threads", "2"]
      + ["-maxrate", "\(rate)", "-bufsize", "\(rate)", "-fps_mode", "vfr", "-enc_time_base", "-1"]
      + ["-vf", filters.joined(separator: ",")]
  }
}
