import MediaTypes
@testable import Imaging

/// Pixels as netpbm's programs write them: PGM, PPM or PAM, of 8 or 16 bits.
struct PortableMap {
  let size: PixelSize
  let channels: Int
  let maximum: Int
  let samples: [Int]

  init?(_ bytes: [UInt8]) {
    var words: [String] = []
    var position = 0
    let isPAM = bytes.starts(with: "P7".utf8)
    while !(isPAM ? words.last == "ENDHDR" : words.count == 4), position < bytes.count {
      let word = bytes[position...].prefix { ![10, 32].contains($0) }
      if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
      position += word.count + 1
    }
    func value(_ name: String, _ place: Int) -> Int? {
      guard isPAM else { return words.count > place ? Int(words[place]) : nil }
      return words.firstIndex(of: name).flatMap { Int(words[$0 + 1]) }
    }
    guard let width = value("WIDTH", 1), let height = value("HEIGHT", 2),
      let maximum = value("MAXVAL", 3)
    else { return nil }
    size = PixelSize(width, height)
    channels = isPAM ? value("DEPTH", 0) ?? 0 : words[0] == "P6" ? 3 : 1
    self.maximum = maximum
    let body = Array(bytes[position...])
    samples =
      maximum > 255
      ? stride(from: 0, to: body.count - 1, by: 2).map { Int(body[$0]) << 8 | Int(body[$0 + 1]) }
      : body.map(Int.init)
    guard samples.count == width * height * channels else { return nil }
  }

  /// The pixel as red, green, blue and alpha of 8 bits, rounded.
  func colour(_ x: Int, _ y: Int) -> [Int] {
    let at = (y * size.width + x) * channels
    let pixel = samples[at..<at + channels].map { ($0 * 255 * 2 + maximum) / (maximum * 2) }
    switch channels {
    case 1: return [pixel[0], pixel[0], pixel[0], 255]
    case 2: return [pixel[0], pixel[0], pixel[0], pixel[1]]
    case 3: return pixel + [255]
    default: return pixel
    }
  }

  /// A picture drawn by a function, as a PPM.
  static func bytes(of canvas: Canvas) -> [UInt8] {
    let plane = canvas.plane()
    let rows = (0..<plane.size.height).flatMap { y in
      plane.samples[y * plane.stride..<y * plane.stride + plane.rowBytes]
    }
    return Array("P6 \(canvas.size.width) \(canvas.size.height) 255\n".utf8) + rows
  }
}

extension Decoded {
  /// The pixel as red, green, blue and alpha.
  func colour(_ x: Int, _ y: Int) -> [Int] {
    let pixel = self[x, y]
    switch pixel.count {
    case 1: return [pixel[0], pixel[0], pixel[0], 255]
    case 3: return pixel + [255]
    default: return pixel
    }
  }
}
