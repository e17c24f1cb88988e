import Foundation
import MediaTypes
import Testing

@testable import Imaging

@Suite(.timeLimit(.minutes(2))) struct ThumbHashTests {
  /// A picture's name, file and what it shows.
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let canvas: Canvas
    let file: @Sendable (Canvas) throws -> [UInt8]

    /// The average of each of its numbers, colours weighted by opacity.
    var means: [Double] {
      let plane = canvas.plane(channels: 4)
      var (sums, weight) = ([0.0, 0, 0], 0.0)
      for y in 0..<canvas.size.height {
        for x in 0..<canvas.size.width {
          let pixel = plane.samples[(y * plane.stride + x * 4)...].prefix(4).map(Double.init)
          for channel in 0..<3 { sums[channel] += pixel[channel] * pixel[3] }
          weight += pixel[3]
        }
      }
      return sums.map { weight > 0 ? $0 / weight : 0 }
        + [weight / Double(canvas.size.width * canvas.size.height)]
    }
  }

  static let samples = [
    Sample(testDescription: "JPEG", canvas: .scene(640, 400)) { try $0.jpeg() },
    Sample(testDescription: "PNG", canvas: .scene(300, 480)) { try $0.png() },
    Sample(testDescription: "small PNG", canvas: .quadrants(60, 60)) { try $0.png() },
    Sample(testDescription: "transparent PNG", canvas: .disc(200)) { try $0.png(alpha: true) },
    Sample(testDescription: "small transparent PNG", canvas: .disc(80)) { try $0.png(alpha: true) },
    Sample(testDescription: "a single pixel", canvas: .quadrants(1, 1)) { try $0.png() },
    Sample(testDescription: "a line", canvas: .scene(1000, 3)) { try $0.png() },
    Sample(testDescription: "GIF", canvas: .quadrants(64, 48)) {
      try Tool.run("ppmtogif", PortableMap.bytes(of: $0))
    },
  ]

  @Test func `it is the picture's proportions and averages, in at most 48 characters`() throws {
    let hash = try #require(PictureHash(SourceFile(bytes: try Canvas.scene(640, 400).jpeg())))
    #expect(hash.bytes.count == 19 && hash.text.utf8.count == 28)
    let other = try #require(PictureHash(SourceFile(bytes: try Canvas.scene(640, 400).png())))
    // What JPEG loses is less than a step of the average brightness.
    #expect(abs(Int(hash.bytes[0] & 63) - Int(other.bytes[0] & 63)) <= 1)
    #expect(hash.bytes.count == other.bytes.count)
    let disc = try #require(PictureHash(SourceFile(bytes: try Canvas.disc(200).png(alpha: true))))
    #expect(disc.bytes.count <= 25 && disc.text.utf8.count <= 36)
    #expect(PictureHash(SourceFile(bytes: Array("no picture".utf8))) == nil)
  }

  @Test func `a picture is hashed as it is seen: turned, and in its colours`() throws {
    let upright = try Canvas.scene(60, 90).jpeg()
    let turned = Surgery.jpeg(try Canvas.scene(90, 60).jpeg(), turned: .clockwise)
    let (first, second) = (
      try #require(PictureHash(SourceFile(bytes: upright))),
      try #require(PictureHash(SourceFile(bytes: turned)))
    )
    // The edges' frequencies, and that it is no landscape.
    #expect(first.bytes[3] & 7 == second.bytes[3] & 7 && second.bytes[4] & 0x80 == 0)
  }
}

/// What another decoder makes of our hashes.
@Suite(.timeLimit(.minutes(2))) struct ThumbHashSystemTests {
  @Test(arguments: ThumbHashTests.samples)
  func `another decoder sees the picture's mean colours and proportions`(
    sample: ThumbHashTests.Sample
  ) throws {
    let file = SourceFile(bytes: try sample.file(sample.canvas))
    let hash = try #require(PictureHash(file))
    let program = Tool.root.appending(path: "Tests/ImagingTests/Independent/thumb_hash.py").path
    let numbers = try Tool.text("python3 \(program)", Array(hash.text.utf8))
      .split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(numbers.count == 10)
    let size = sample.canvas.size
    let ratio = Double(numbers[0]) / Double(numbers[1])
    let wanted = Double(size.width) / Double(size.height)
    // Along the shorter edge there are seven steps.
    #expect(abs(ratio - wanted) < wanted / 4 || wanted > 7, "\(numbers)")
    let means = sample.means
    for channel in 0..<3 {
      #expect(abs(Double(numbers[2 + channel]) - means[channel]) < 12, "\(numbers) \(means)")
    }
    #expect(abs(Double(numbers[5]) - means[3]) < 12, "\(numbers) \(means)")
    guard means[3] == 255 else { return }
    // Of what is not transparent, all of the decoded picture has the mean.
    for channel in 0..<3 {
      #expect(abs(Double(numbers[6 + channel]) - means[channel]) < 16, "\(numbers) \(means)")
    }
  }
}
