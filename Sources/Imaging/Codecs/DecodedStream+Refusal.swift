extension DecodedStream {
  /// How decoding ended.
  enum Status: Int {
    case decoded, damaged, incomplete, tooLarge, unsupported, withoutPrimary, unknownCoding
    case unknownProperty
  }

  /// What is said of a picture that could not be decoded; the detail is the decoder's text, which is not trusted.
  func refusal(_ status: Status?, detail: String) -> ImagingError {
    switch status {
    case .incomplete:
      let error = ImagingError.incomplete
      return ImagingError(error.code, error.reason, detail: detail)
    case .tooLarge:
      return ImagingError(
        .tooLarge, "This \(kind.name) is too large. Export it smaller.", detail: detail)
    case .unsupported:
      return unsupported("This \(kind.name) uses something that is not supported.", detail)
    case .unknownCoding:
      let coding = Self.codings[detail] ?? Self.code(detail) ?? "an unknown format"
      return unsupported(
        "The picture in this \(kind.name) is coded as \(coding), which is not supported.", detail)
    case .unknownProperty:
      let property = Self.code(detail).map { "its property \($0)" } ?? "one of its properties"
      return unsupported(
        "This \(kind.name) can't be shown without \(property), which is not supported.", detail)
    case .withoutPrimary:
      return ImagingError(
        .damaged,
        "This \(kind.name) is a film without a still picture. Export a still as JPEG, or a short clip "
          + "as GIF.", detail: detail)
    case .damaged, .decoded, nil: return .damaged(kind.name, detail)
    }
  }

  private func unsupported(_ sentence: String, _ detail: String) -> ImagingError {
    ImagingError(.unsupportedContent, "\(sentence) Export it as a JPEG file.", detail: detail)
  }

  /// What people call the codings of items (mp4ra.org).
  private static let codings = [
    "hvc1": "HEVC", "av01": "AV1", "jpeg": "JPEG", "avc1": "H.264", "vvc1": "H.266",
    "evc1": "EVC", "lhv1": "layered HEVC", "j2k1": "JPEG 2000", "jxs1": "JPEG XS",
    "unci": "uncompressed samples", "mski": "a mask", "tmap": "a tone map",
  ]

  /// A code of four characters in quotes, if all can be printed.
  private static func code(_ text: String) -> String? {
    let canBePrinted = text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
    return canBePrinted && text.utf8.count == 4 ? "“\(text)”" : nil
  }
}
