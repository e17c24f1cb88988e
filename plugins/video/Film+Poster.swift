import Glibc
import PluginKit

extension Film {
  /// The widest poster, in pixels.
  private static let largestPoster = 1920

  /// Writes a JPEG of a typical picture that is not mostly black.
  func drawPoster(to output: String) throws(Refusal) {
    let isBright =
      "blackframe=0:32,metadata=select:key=lavfi.blackframe.pblack:value=70:function=less"
    // The filter can leave nothing of a dark film; and all pictures but the first depend on that one, which an
    // edit list may hide.
    for (isEach, choice) in [(false, isBright), (false, nil), (true, isBright), (true, nil)] {
      let filters =
        // Looks at no more than this many pictures, of which there may be a million.
        ["trim=start=0", "trim=end_frame=240"] + picture.orientation.filters
        + [choice].compactMap(\.self)
        + [scaling, "setsar=1", "thumbnail=12"] + conversion
      try FFmpeg.run(
        (isEach ? [] : ["-skip_frame", "nokey"]) + ["-noautorotate", "-copyts"] + FFmpeg.input(path)
          + ["-map", "0:\(picture.index)", "-vf", filters.joined(separator: ",")]
          + ["-frames:v", "1", "-q:v", "1", "-f", "image2", "-update", "1", output])
      if access(output, F_OK) == 0 { return }
    }
    throw Self.empty
  }

  private var scaling: String {
    let (width, height) = picture.shownSize
    let scale = min(1, Double(Self.largestPoster) / Double(max(width, 1)))
    return "scale=w=\(evenSide(width, scale)):h=\(evenSide(height, scale))"
  }

  /// To the range and matrix of JPEG; the light of HDR (PQ and HLG) is rolled off.
  private var conversion: [String] {
    let light = [
      "zscale=t=linear:npl=203", "format=gbrpf32le", "zscale=p=bt709", "tonemap=hable",
      "zscale=t=bt709:m=bt709:r=tv", "format=yuv420p",
    ]
    return (picture.isHDR ? light : [])
      + ["scale=out_color_matrix=smpte170m:out_range=pc", "format=yuvj444p"]
  }

  /// A side of scaled pictures: even, as colours are coded for pairs of pixels.
  func evenSide(_ side: Int, _ scale: Double) -> Int {
    max(Int((Double(side) * scale / 2).rounded()) * 2, 2)
  }
}
