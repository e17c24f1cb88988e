import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// Colours beside what LittleCMS's own tool makes of them: relative colorimetric, black-point compensation.
@Suite struct ColourReferenceTests {
  private static let folder = "/usr/share/color/icc"

  private static func profile(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(path)")))
  }

  /// The sRGB of some colours of a profile: codes from 0 to 255, or inks from 0 to 100.
  private static func reference(_ profile: [UInt8], _ colours: [[Double]]) throws -> [Lab] {
    let lines = colours.map { $0.map { "\($0)" }.joined(separator: " ") }.joined(separator: "\\n")
    let text = try Tool.text(
      "printf '\(lines)\\n' | transicc -n -s -i $file -o '*sRGB' -t 1 -b", profile)
    return text.split(separator: "\n").map { line in
      let codes = line.split(separator: " ").compactMap { Double($0) }
      return Lab(red: codes[0], green: codes[1], blue: codes[2])
    }
  }

  /// Twelve patches of 32 by 32 pixels.
  private static let patches = [
    [255, 0, 0], [0, 255, 0], [0, 0, 255], [200, 60, 40], [40, 180, 90], [30, 60, 210],
    [230, 190, 60], [90, 60, 120], [20, 20, 20], [128, 128, 128], [220, 220, 220], [150, 110, 90],
  ]
  private static let size = PixelSize(128, 96)

  private static func patch(_ x: Int, _ y: Int) -> Int { y / 32 * 4 + x / 32 }

  private static func worst(_ rendition: RenderedPicture, _ wanted: [Lab]) throws -> Double {
    let seen = try FloatPicture(decoding: rendition.encoded)
    return wanted.enumerated().map { index, lab in
      let (x, y) = (index % 4 * 16 + 8, index / 4 * 16 + 8)
      let at = (y * seen.size.width + x) * 3
      let s = seen.samples
      return lab.difference(from: Lab(red: s[at], green: s[at + 1], blue: s[at + 2]))
    }.max() ?? 100
  }

  @Test(arguments: [
    "colord/SwappedRedAndGreen.icc", "colord/AdobeRGB1998.icc", "colord/ProPhotoRGB.icc",
    "colord/WideGamutRGB.icc", "Display P3", "colord/ECI-RGBv2.icc",
  ])
  func `colours of an RGB profile are those of LittleCMS`(name: String) throws {
    let profile = name == "Display P3" ? ICC.displayP3 : try Self.profile(name)
    let canvas = Canvas(size: Self.size) { x, y in
      let colour = Self.patches[Self.patch(x, y)]
      return (colour[0], colour[1], colour[2], 255)
    }
    let wanted = try Self.reference(profile, Self.patches.map { $0.map(Double.init) })
    for linear in ["0", "1"] {
      let png = Surgery.png(try canvas.png(), adding: "iCCP", ICC.chunk(profile))
      #expect(
        try Self.worst(PictureRenderer.render(png, ("width", "64"), ("linear", linear)), wanted)
          <= 2)
      let jpeg = Surgery.jpeg(
        try Tool.run("cjpeg -quality 98 -sample 1x1", PortableMap.bytes(of: canvas)),
        profile: profile)
      #expect(
        try Self.worst(PictureRenderer.render(jpeg, ("width", "64"), ("linear", linear)), wanted)
          <= 2)
    }
  }

  @Test(arguments: ["colord/ProPhotoRGB.icc", "colord/AdobeRGB1998.icc", "gAMA 1.0"])
  func `16-bit ramps are those of LittleCMS`(name: String) throws {
    // steps that 8 bits could not tell apart in the dark
    let tones = (0..<12).map { [$0 * $0 * 450 + 77, $0 * 5400 + 300, 60000 - $0 * $0 * 400] }
    var png = RawPNG(Self.size, colourType: 2, depth: 16) { x, y in tones[Self.patch(x, y)] }.bytes
    let profile: [UInt8]
    if name == "gAMA 1.0" {
      profile = ICC.linear
      png = Surgery.png(png, adding: "gAMA", [0, 1, 0x86, 0xA0])
    } else {
      profile = try Self.profile(name)
      png = Surgery.png(png, adding: "iCCP", ICC.chunk(profile))
    }
    let wanted = try Self.reference(profile, tones.map { $0.map { Double($0) / 257 } })
    #expect(try Self.worst(PictureRenderer.render(png, ("width", "64")), wanted) <= 2)
  }

  @Test(arguments: [(true, false), (true, true), (false, false)])
  func `inks of a CMYK profile are those of LittleCMS, with and without Adobe's marker`(
    marked: Bool, coded: Bool
  ) throws {
    let inks = [
      [0, 0, 0, 0], [0, 0, 0, 100], [100, 0, 0, 0], [0, 100, 0, 0], [0, 0, 100, 0],
      [60, 40, 40, 100],
      [20, 60, 40, 10], [70, 10, 60, 0], [90, 80, 10, 20], [10, 10, 90, 0], [0, 50, 50, 50],
      [30, 30, 30, 30],
    ]
    let profile = try Self.profile("ghostscript/default_cmyk.icc")
    let jpeg = try CMYK.jpeg(Self.size, hasMarker: marked, isYCCK: coded) { x, y in
      inks[Self.patch(x, y)].map { $0 * 255 / 100 }
    }
    let wanted = try Self.reference(
      profile, inks.map { $0.map { Double($0 * 255 / 100) * 100 / 255 } })
    for linear in ["0", "1"] {
      let made = try PictureRenderer.render(
        Surgery.jpeg(jpeg, profile: profile), ("width", "64"), ("linear", linear))
      #expect(try Self.worst(made, wanted) <= 2)
      // without a profile inks are multiplied out: paper is white, black is black, cyan is cyan
      let plain = try Decoded(
        PictureRenderer.render(jpeg, ("width", "64"), ("linear", linear)).encoded)
      #expect(plain[8, 8].allSatisfy { $0 >= 247 } && plain[24, 8].allSatisfy { $0 <= 8 })
      #expect(plain[40, 8][0] <= 10 && plain[40, 8][1] >= 245 && plain[40, 8][2] >= 245)
    }
  }

  @Test(arguments: ["grey", "grey with alpha"])
  func `grey of a profile is that of LittleCMS`(kind: String) throws {
    let profile = ICC.greyProfile(gamma: 1.6)
    let hasAlpha = kind != "grey"
    let png = RawPNG(Self.size, colourType: hasAlpha ? 4 : 0, depth: 8) { x, y in
      let tone = Self.patch(x, y) * 23
      return hasAlpha ? [tone, x == 0 ? 254 : 255] : [tone]
    }
    let wanted = try Self.reference(profile, (0..<12).map { [Double($0 * 23)] })
    let made = try PictureRenderer.render(
      Surgery.png(png.bytes, adding: "iCCP", ICC.chunk(profile)), ("width", "64"))
    #expect(try Self.worst(made, wanted) <= 2)
  }
}
