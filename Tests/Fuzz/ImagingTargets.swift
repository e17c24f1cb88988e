// Compiled into the module Imaging by Tests/Fuzz/imaging.sh, for libFuzzer.
import Glibc

/// What libFuzzer calls; the environment variable FUZZ_TARGET chooses what is tried.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  FuzzTarget.chosen.run(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

enum FuzzTarget: String {
  case jpeg, png, gif, exif, cutter, sniffer

  static let chosen =
    getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) } ?? .jpeg

  func run(_ bytes: [UInt8]) {
    let source = SourceFile(bytes: bytes)
    var limits = Limits()
    limits.megapixels = 1
    switch self {
    case .jpeg, .png, .gif:
      var options = Options()
      let side = bytes.count % 7 < 4 ? 12 : 40  // small enough for every scale of decoding
      options.width = side
      options.height = side
      options.fit = bytes.count % 2 == 0 ? .contain : .cover
      options.isLinear = bytes.count % 3 == 0
      options.maximumBytes = bytes.count % 5 == 0 ? 900 : nil
      _ = try? Recipe(options, limits: limits).render(source)
      _ = try? Facts(source, limits: limits)
    case .exif:
      _ = Exif(tiff: bytes)
    case .cutter:
      guard let kind = PictureKind(source) else { return }
      let copy = CleanCopy(source, kind: kind)
      let cut = copy.bytes(of: source)
      precondition(cut.count == copy.size)
      let again = CleanCopy(SourceFile(bytes: cut), kind: kind)
      precondition(again.bytes(of: SourceFile(bytes: cut)) == cut, "cutting twice cuts more")
    case .sniffer:
      _ = PictureKind(source)
      _ = try? PictureKind.accepted(source)
    }
  }
}
