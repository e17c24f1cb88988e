import Foundation
import MediaTypes
import StandIns
import Testing

/// What people are told of a file that is not what a rich type takes.
@Suite struct FileKindTests {
  private static func sentence(_ bytes: [UInt8], _ patterns: String...) -> String {
    FileKind(bytes).refusal(accepting: patterns)
  }

  private static func bytes(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8($0.value) }
  }

  @Test(arguments: [
    ("II*\0\u{8}\0\0\0", "a TIFF picture, which phones can't show. Export it as JPEG or PNG."),
    (
      "8BPS\0\u{1}\0\0",
      "a Photoshop picture (PSD), which phones can't show. Export it as JPEG or PNG."
    ),
    ("\0\0\u{1}\0\u{1}\0", "an icon (ICO), which phones can't show. Export it as PNG."),
    ("<svg xmlns='x'/>", "an SVG drawing, which phones can't show. Export it as PNG."),
    ("RIFF\0\0\0\0WEBPVP8 ", "a WebP picture. Export it as JPEG (PNG if transparent)."),
    (
      "\0\0\0\u{18}ftypheic\0\0\0\0mif1heic",
      "a HEIC photo. Export it as JPEG (PNG if transparent)."
    ),
    (
      "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
      "an EPS drawing, which phones can't show. Export it as PNG."
    ),
    (
      "\u{C5}\u{D0}\u{D3}\u{C6}\u{20}\0\0\0",
      "an EPS drawing, which phones can't show. Export it as PNG."
    ),
    (
      "%!PS-Adobe-3.0\n%%Pages: 2\n",
      "a PostScript document, not a picture. Export the page as JPEG or PNG."
    ),
    (
      "\u{D7}\u{CD}\u{C6}\u{9A}\0\0", "a WMF drawing, which phones can't show. Export it as PNG."
    ),
    (
      "\u{1}\0\u{9}\0\0\u{3}\0\0", "a WMF drawing, which phones can't show. Export it as PNG."
    ),
    (
      "\u{1}\0\0\0" + String(repeating: "\0", count: 36) + " EMF\0\0\u{1}\0",
      "an EMF drawing, which phones can't show. Export it as PNG."
    ),
    ("%PDF-1.7", "a PDF document, not a picture. Export the page as JPEG or PNG."),
    ("PK\u{3}\u{4}", "a ZIP archive. Unpack it and drop the pictures."),
    (
      "<!DOCTYPE html><html>",
      "a web page, not a picture. Save the picture itself, not the page it is on."
    ),
    (
      "\0\0\0\u{18}ftypisom\0\0\0\0isommp41",
      "a film (MP4), not a picture. Export a still as JPEG, or a short clip as GIF."
    ),
    ("ID3\u{3}\0", "an MP3 sound, not a picture. Drop a JPEG, PNG or GIF."),
    ("Hello", "text, not a picture. Drop a JPEG, PNG or GIF."),
    ("#!/bin/sh\n", "a program, not a picture. Drop a JPEG, PNG or GIF."),
    ("\u{1}\0\u{2}", "a file of an unknown kind. Drop a JPEG, PNG or GIF."),
  ])
  func `says what was dropped as a picture, and what to do`(head: String, said: String) {
    #expect(Self.sentence(Self.bytes(head), "image/*") == "This is " + said)
  }

  @Test func `a film without pictures is a sound, and a rich type for sounds wants no film`() {
    let film = "\0\0\0\u{14}ftypisom\0\0\0\0isom"
    let sound =
      film + "\0\0\0\u{2C}moov\0\0\0\u{24}trak\0\0\0\u{1C}mdia\0\0\0\u{14}hdlr\0\0\0\0\0\0\0\0soun"
    let kinds = [film, sound].map { FileKind(Self.bytes($0)) }
    #expect(kinds.map(\.sort) == [.film, .sound])
    #expect(kinds.map { $0.isWanted(accepting: ["audio/*", "video/mp4"]) } == [false, true])
    #expect(kinds.map { $0.isWanted(accepting: ["video/mp4"]) } == [true, false])
    #expect(kinds.allSatisfy { $0.isWanted(accepting: ["*/*"]) })
  }

  @Test(arguments: [
    (".snd\0\0\0\u{18}", "an AU sound, which phones can't play. Convert it to M4A or MP3."),
    (
      "0&\u{B2}u\u{8E}f\u{CF}\u{11}",
      "a WMA sound, which phones can't play. Convert it to M4A or MP3."
    ),
    ("RIFF\0\0\0\0AVI LIST", "a film (AVI), not a sound. Export its sound as M4A."),
    ("PK\u{3}\u{4}", "a ZIP archive. Unpack it and drop the sounds."),
    ("GIF89a", "a GIF picture, not a sound. Drop an M4A, MP3, WAV or AIFF."),
  ])
  func `says what was dropped as a sound, and what to do`(head: String, said: String) {
    #expect(Self.sentence(Self.bytes(head), "audio/*", "video/mp4") == "This is " + said)
  }

  @Test func `names the folder that takes it, and what a type of one's own takes`() {
    let sound = FileKind(Self.bytes("ID3\u{3}\0"))
    #expect(
      sound.refusal(accepting: ["image/*"], folder: "sound")
        == "This is an MP3 sound, not a picture. It belongs in the folder “sound”.")
    #expect(
      sound.refusal(accepting: ["application/x-tune", "font/otf"])
        == "This is an MP3 sound. It takes application/x-tune, font/otf.")
  }

  /// The test files of two libraries that tell kinds apart; `make tools` downloads them.
  private static func foreign() throws -> [(name: String, bytes: [UInt8])] {
    let tools = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: ".build/tools/sdists").path
    let folder = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for archive in ["puremagic-*/test/resources", "filetype-*/tests/fixtures"] {
      let tar = try StartedProgram(
        "/bin/sh",
        [
          "-c",
          "tar xzf \(tools)/\(archive.prefix { $0 != "/" }).tar.gz -C \(folder.path) --wildcards '\(archive)/*'",
        ])
      try #require(tar.waitForEnd() == 0, "make tools downloads them")
    }
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return try (names ?? []).sorted().compactMap { name in
      let file = folder.appending(path: name)
      guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        return nil
      }
      return (name, Array(try Data(contentsOf: file)))
    }
  }

  @Test func `knows the kinds of other projects' test files, also inside archives`() throws {
    let wanted = [
      "docx": "a Word document", "xlsx": "an Excel workbook", "pptx": "a PowerPoint presentation",
      "doc": "an Office document", "xls": "an Office document", "ppt": "an Office document",
      "odt": "an OpenDocument file", "ods": "an OpenDocument file", "odp": "an OpenDocument file",
      "tga": "a TGA picture", "psd": "a Photoshop picture (PSD)", "tif": "a TIFF picture",
      "bmp": "a BMP picture",
      "ico": "an icon (ICO)", "svg": "an SVG drawing", "xcf": "a GIMP picture (XCF)",
      "webp": "a WebP picture", "avif": "an AVIF picture", "heic": "a HEIC photo",
      "jpx": "a JPEG 2000 picture", "zip": "a ZIP archive", "rar": "a RAR archive",
      "7z": "a 7-Zip archive", "gz": "a GZIP archive", "bz2": "a BZIP2 archive",
      "xz": "an XZ archive", "zst": "a ZSTD archive", "wmv": "a film (WMV)",
      "flv": "a film (FLV)", "mkv": "a film (MKV)", "avi": "a film (AVI)", "mpg": "a film (MPG)",
      "mov": "a film (MOV)", "swf": "a Flash film", "exe": "a program",
    ]
    var seen: Set<String> = []
    for (name, bytes) in try Self.foreign() {
      let ending = String(name.reversed().prefix { $0 != "." }.reversed())
      guard let kind = wanted[ending], !name.contains("skippable") else { continue }
      seen.insert(ending)
      #expect(FileKind(bytes).name == kind, "\(name)")
    }
    #expect(seen == Set(wanted.keys))
  }

  @Test(arguments: Sample.types)
  func `has a sentence for every beginning of every sample`(sample: Sample) {
    for count in 0...min(sample.bytes.count, 80) {
      let sentence = Self.sentence(Array(sample.bytes.prefix(count)), "image/*")
      #expect(sentence.hasPrefix("This is ") && sentence.hasSuffix("."))
    }
  }

  @Test(arguments: ["<?xml version='1.0'?><!--", "<!--"])
  func `an SVG behind a long comment is a drawing, a web page with one in it is not`(start: String)
  {
    let head = start + String(repeating: " drawn by hand", count: 2000) + "-->\n"
    #expect(FileKind(Array((head + "<svg/>").utf8)).name == "an SVG drawing")
    #expect(FileKind(Array((head + "<html><svg/>").utf8)).name != "an SVG drawing")
  }

  @Test func `a damaged or hostile archive is an archive`() {
    let directory: [UInt8] = Array("PK\u{1}\u{2}".utf8) + [UInt8](repeating: 0xFF, count: 60)
    for offset: [UInt8] in [[0xFF, 0xFF, 0xFF, 0xFF], [4, 0, 0, 0], [0, 0, 0, 0]] {
      let end = Array("PK\u{5}\u{6}".utf8) + [UInt8](repeating: 0, count: 12) + offset + [0, 0]
      let bytes = Array("PK\u{3}\u{4}".utf8) + directory + end
      #expect(FileKind(bytes).name == "a ZIP archive")
    }
  }
}
