import Foundation
import MediaTypes
import Testing

@testable import Imaging

/// What holds for every format in which pictures are encoded.
@Suite(.timeLimit(.minutes(1))) struct PictureFormatTests {
  @Test(arguments: PictureFormat.allCases)
  func `an encoded picture is what its media type says, and is announced`(
    format: PictureFormat
  ) throws {
    let raster = Raster(
      planes: [Canvas.scene(60, 40).plane(channels: format.keepsTransparency ? 4 : 3)],
      model: format.keepsTransparency ? .rgba : .rgb)
    for encoded in [try format.encode(raster), try format.encode(raster, share: 0.5)] {
      #expect(encoded.format == format && encoded.size == PixelSize(60, 40))
      #expect(MediaType.sniff(SourceFile(bytes: encoded.bytes)).value == format.mediaType)
    }
    let manifest = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../plugins/img/plugin.json")
    let members = try JSONSerialization.jsonObject(with: Data(contentsOf: manifest))
    let produced = (members as? [String: Any])?["produces"] as? [String]
    #expect(produced?.contains(format.mediaType) == true)
  }

  @Test func `a transparent picture stays so, however small it has to be`() throws {
    let raster = Raster(planes: [Canvas.scene(60, 40).plane(channels: 4)], model: .rgba)
    var encoder = SizeLimitedEncoder(900)
    let encoded = try encoder.encode(raster, as: .png)
    #expect(encoded.format.keepsTransparency && encoded.bytes.count <= 900)
  }
}
