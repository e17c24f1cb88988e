import Foundation
import StandIns
import TestSupport
import Testing

@testable import Origin

/// QR codes as modules.
@Suite(.timeLimit(.minutes(1))) struct QRCodeTests {
  private static let link = "https://push.example/app/#pair=gT5xPZ0aJ_-XcQe1vB9kLw"

  @Test func `a code is a square with three finders`() throws {
    let code = try #require(QRCode(Self.link))
    // Version 4, which is the smallest for so many bytes.
    #expect(code.width == 33 && code.rows.allSatisfy { $0.count == 33 })
    let finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    for (row, column) in [(0, 0), (0, 26), (26, 0)] {
      let corner = code.texts[row..<row + 7].map { $0.dropFirst(column).prefix(7) }
      #expect(corner.map(String.init) == finder)
    }
    #expect(QRCode(texts: code.texts) == code)
  }

  @Test func `what cannot be one is none`() {
    #expect(QRCode("") == nil)
    #expect(QRCode(String(repeating: "x", count: 2331)) != nil)
    #expect(QRCode(String(repeating: "x", count: 2332)) == nil)
  }
}

/// QR codes as another program reads them.
@Suite(.timeLimit(.minutes(1))) struct QRCodeSystemTests {
  @Test(arguments: ["http://127.0.0.1:8080/app/#pair=gT5xPZ0aJ_-XcQe1vB9kLw", "Grüße, 你好"])
  func `zbarimg reads the text`(text: String) throws {
    let scratch = try Scratch()
    let code = try #require(QRCode(text))
    // A picture of nine pixels a module, with the quiet zone (PBM, netpbm(5)).
    let zone = QRCode.quietZone
    let size = code.width + 2 * zone
    var pixels = ""
    for row in 0..<size * 9 {
      for column in 0..<size * 9 {
        let (y, x) = (row / 9 - zone, column / 9 - zone)
        let isInside = code.rows.indices.contains(y) && code.rows.indices.contains(x)
        pixels += isInside && code.rows[y][x] ? "1 " : "0 "
      }
      pixels += "\n"
    }
    try scratch.write("P1\n\(size * 9) \(size * 9)\n" + pixels, to: "code.pbm")
    let read = try StartedProgram.run(
      "/usr/bin/zbarimg", ["--quiet", "--raw", scratch.path + "/code.pbm"])
    #expect(String(decoding: read.output, as: UTF8.self) == text + "\n")
  }
}
