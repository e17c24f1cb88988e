/// What a source may ask for, checked against its header before anything is allocated.
package struct Limits: Sendable {
  /// Width times height, in millions.
  package var megapixels = 100
  /// Pixels along one edge.
  package var edge = 30_000
  /// Bytes of coefficients that a progressive JPEG keeps while it is read.
  package var coefficientBytes = 192 << 20
  /// Bytes of an interlaced PNG, which is held whole while it is read.
  package var bitmapBytes = 128 << 20
  /// Bytes of one ancillary chunk or profile, inflated.
  package var ancillaryBytes = 4 << 20
  /// Scans of a progressive JPEG.
  package var scans = 100

  package init() {}

  /// Refuses a picture by its header alone.
  package func check(_ size: PixelSize) throws(ImagingError) {
    guard size.width > 0, size.height > 0 else {
      let missing = size.width > 0 ? "height" : "width"
      throw ImagingError(
        .damaged, "This picture is damaged: it has no \(missing). Export it again.")
    }
    guard max(size.width, size.height) <= edge else {
      throw ImagingError(
        .tooLarge,
        "The picture is \(size) pixels; the longest edge allowed is \(edge). "
          + "Export it smaller.")
    }
    guard size.width * size.height <= megapixels * 1_000_000 else {
      let tenths = (size.pixels + 99_999) / 100_000
      throw ImagingError(
        .tooLarge,
        "The picture is \(size) pixels, \(tenths / 10).\(tenths % 10) megapixels; at most \(megapixels) are allowed. Export it smaller."
      )
    }
  }

  /// Refuses a buffer that a source would need for itself.
  func check(
    _ bytes: Int, against limit: Int, for what: String, remedy: String = "Export it smaller."
  ) throws(ImagingError) {
    guard bytes > limit else { return }
    throw ImagingError(
      .tooLarge,
      "\(what) is too large. \(remedy)",
      detail: "it takes \(bytes >> 20) MiB of memory, the limit is \(limit >> 20) MiB")
  }
}
