package import MediaTypes

/// Renders a picture as requested: decode, orient, convert to sRGB, crop, resample, encode.
package struct PictureRenderer: Sendable {
  package let options: Options
  package let limits: Limits

  package init(_ options: Options, limits: Limits = Limits()) {
    (self.options, self.limits) = (options, limits)
  }

  /// Renders a picture; one that needs no change is passed through without its private metadata.
  package func render(_ source: SourceFile) throws(ImagingError) -> RenderedPicture {
    var recorder = StepRecorder()
    let kind = try PictureKind(source)
    if kind.isForeign { return try renderForeign(source, kind, &recorder) }
    let metadata = try Metadata(source, kind: kind, limits: limits)
    let isPlayed = metadata.isAnimated && options.profile?.plays ?? true
    if metadata.hasAnimationChunks, !isPlayed { return try renderStill(source, metadata) }
    if options.areEmpty, let same = try passing(source, kind, &recorder) { return same }
    if metadata.isAnimated, options.keepsAnimation, fits(source),
      let same = try passing(source, kind, &recorder)
    {
      return same
    }
    switch kind {
    case .png: return try renderPNG(source, metadata, &recorder)
    case .gif: return try renderGIF(source, metadata, &recorder)
    default: return try renderJPEG(source, metadata, &recorder)
    }
  }

  /// Resamples the visible part of a picture whose stored pixels have this size.
  func resampler(of stored: PixelSize, _ metadata: Metadata) -> FrameResampler {
    let box = options.box
    let frame = Frame(
      of: metadata.orientation.applied(to: stored), width: box.width, height: box.height,
      fit: options.fit, focus: options.focus)
    return FrameResampler(
      frame, orientation: metadata.orientation, stored: stored,
      kernel: metadata.isGraphic(pixels: stored.pixels) ? .area : .lanczos)
  }

  /// The source itself, when its pixels are as requested.
  func unchanged(
    _ source: SourceFile, _ kind: PictureKind, _ resampler: FrameResampler,
    _ recorder: inout StepRecorder
  ) throws(ImagingError) -> RenderedPicture? {
    guard !options.areEmpty, resampler.orientation == .upright,
      resampler.frame.size == resampler.stored, fits(source)
    else { return nil }
    return try passing(source, kind, &recorder)
  }

  /// Whether the source has no more bytes than are allowed.
  private func fits(_ source: SourceFile) -> Bool {
    options.byteLimit.map { source.size <= $0 } ?? true
  }

  /// The source without its private metadata; nil when that does not look like the source, cannot be
  /// decoded or is too large: then the picture has to be encoded.
  private func passing(
    _ source: SourceFile, _ kind: PictureKind, _ recorder: inout StepRecorder
  ) throws(ImagingError) -> RenderedPicture? {
    let copy = CleanCopy(source, kind: kind)
    guard copy.removed.isEmpty || copy.size <= limits.outputBytes else { return nil }
    let bytes = copy.removed.isEmpty ? nil : copy.bytes(of: source)
    let shown = try recorder.step(
      "pass through",
      { shown in
        shown == nil
          ? "not possible"
          : bytes == nil ? "bit for bit" : "without \(copy.removed.joined(separator: ", "))"
      }
    ) { () -> Appearance? in
      let file = bytes.map(SourceFile.init) ?? source
      guard let shown = try? Appearance(file, kind, limits: limits, checking: true) else {
        return nil
      }
      if bytes == nil { return shown }
      let wanted = try? Appearance(source, kind, limits: limits, checking: false)
      return wanted.map(shown.isLike) == true ? shown : nil
    }
    guard let shown else { return nil }
    return RenderedPicture(
      content: bytes.map { .cleaned($0) } ?? .original, mediaType: kind.mediaType,
      size: shown.size, byteCount: bytes?.count ?? source.size, steps: recorder.steps)
  }

  /// Encodes a raster within the byte limit, in this format or its substitute.
  func encoded(
    _ raster: Raster, as format: PictureFormat, _ recorder: inout StepRecorder
  ) throws(ImagingError) -> RenderedPicture {
    let encoded = try recorder.step(
      "encode", { (made: Encoded) in "\(made.detail), \(made.size), \(made.bytes.count) bytes" }
    ) { () throws(ImagingError) in
      let limit = min(options.byteLimit ?? limits.outputBytes, limits.outputBytes)
      var encoder = SizeLimitedEncoder(limit)
      return try encoder.encode(raster, as: format)
    }
    return RenderedPicture(
      content: .encoded(encoded.bytes), mediaType: encoded.format.mediaType, size: encoded.size,
      byteCount: encoded.bytes.count, steps: recorder.steps)
  }
}

/// A picture as it is sent to a device.
package struct RenderedPicture: Sendable {
  package enum Content: Sendable {
    /// The source, bit for bit.
    case original
    /// The source without its private metadata; the pixels are untouched.
    case cleaned([UInt8])
    /// Other bytes: new pixels, or an animated PNG made still.
    case encoded([UInt8])
  }

  /// The encoded picture, or the source unchanged.
  package let content: Content
  /// The media type of the content.
  package let mediaType: String
  /// The upright size.
  package let size: PixelSize
  /// Bytes.
  package let byteCount: Int
  /// How it was rendered.
  package let steps: [Step]

  /// The content as bytes.
  package func bytes(from source: SourceFile) -> [UInt8] {
    switch content {
    case .original: source.read(at: 0, count: source.size)
    case .cleaned(let bytes), .encoded(let bytes): bytes
    }
  }
}

/// A step of rendering, for `--explain`.
package struct Step: Sendable {
  package let name: String
  package let detail: String
  package let duration: Duration
}

/// The steps taken so far.
struct StepRecorder {
  private(set) var steps: [Step] = []

  /// Runs a step and records how long it took.
  mutating func step<Result>(
    _ name: String, _ detail: (Result) -> String, _ body: () throws(ImagingError) -> Result
  ) throws(ImagingError) -> Result {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try body()
    steps.append(Step(name: name, detail: detail(result), duration: clock.now - start))
    return result
  }
}
