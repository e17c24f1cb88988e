import Foundation
import RichPushClient
import Testing
import Waiting

/// What people drop into the folders, made by the programs that they would use, and what they are told.
@Suite(.timeLimit(.minutes(5))) struct DroppedKindsTests {
  private static let script = """
    set -e
    convert beach.jpg -resize 64x tiff:assets/img/scan.jpg
    convert beach.jpg -resize 64x assets/img/drawing.bmp
    convert beach.jpg -resize 64x assets/img/layers.psd
    convert beach.jpg -resize 32x32! assets/img/icon.ico
    convert beach.jpg -resize 64x beach.png
    heif-enc beach.png -o assets/img/phone.heic
    LC_ALL=C sed 's/hvc1/jpeg/g' assets/img/phone.heic >assets/img/foreign.heic
    avifenc -s 10 beach.png assets/img/web.avif >/dev/null
    cwebp -quiet beach.png -o assets/img/sticker.webp
    convert beach.png -flop -resize 64x48! flopped.png
    convert beach.png -resize 64x48! small.png
    img2webp -d 100 small.png flopped.png -o assets/img/moving.webp >/dev/null
    quiet='ffmpeg -v error -f lavfi'
    $quiet -i testsrc=size=64x48:rate=5:duration=1 -c:v mpeg4 -pix_fmt yuv420p assets/img/clip.mp4
    $quiet -i sine=duration=1 -c:a wmav2 assets/sound/song.wma
    $quiet -i sine=duration=1 assets/sound/old.au
    $quiet -i sine=duration=1 assets/img/song.png.mp3
    $quiet -i testsrc=size=64x48:rate=5:duration=1 -f lavfi -i sine=duration=1 \
      -c:v mpeg4 -pix_fmt yuv420p -c:a aac assets/sound/film.mp4
    python3 - <<'END'
    import plistlib, zipfile
    with zipfile.ZipFile("assets/img/photos.zip", "w") as file: file.write("beach.jpg")
    with zipfile.ZipFile("assets/img/letter.docx", "w") as file:
        for name in "[Content_Types].xml", "_rels/.rels", "word/document.xml":
            file.writestr(name, "<x/>")
    link = {"URL": "https://www.swift.org/?a=1&b=2"}
    for name, form in ("text", plistlib.FMT_XML), ("binary", plistlib.FMT_BINARY):
        open(f"assets/url/{name}.webloc", "wb").write(plistlib.dumps(link, fmt=form))
    open("assets/url/empty.webloc", "wb").write(plistlib.dumps({"Title": "Swift"}))
    END
    """

  private static let texts = [
    "img/logo.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>", "img/page.pdf": "%PDF-1.7\n",
    "img/saved.jpg": "<!DOCTYPE html>\n<html><title>Sign in</title></html>",
    "url/saved.url": "<!DOCTYPE html>\n<html><title>Sign in</title></html>",
    "url/linux.desktop": "[Desktop Entry]\nType=Link\nName=Swift\nURL=https://www.swift.org/\n",
    "url/started.desktop":
      "#!/usr/bin/env xdg-open\n[Desktop Entry]\nType=Link\nURL=https://www.swift.org/\n",
    "url/noted.desktop":
      "# Our pages\n\n# of today\n[Desktop Entry]\nType=Link\nURL[$e]=https://www.swift.org/\n",
    "url/script.desktop": "#!/bin/sh\necho [Desktop Entry]\n",
    "url/feed.url": "<?xml version='1.0'?>\n<rss version='2.0'><channel/></rss>\n",
    "url/page.url": "<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'><p/></html>",
  ]

  private static let refusals = [
    "img/scan.jpg": "This is a TIFF picture, which phones can't show. Export it as JPEG or PNG.",
    "img/drawing.bmp": "This is a BMP picture, which phones can't show. Export it as JPEG or PNG.",
    "img/layers.psd":
      "This is a Photoshop picture (PSD), which phones can't show. Export it as JPEG or PNG.",
    "img/icon.ico": "This is an icon (ICO), which phones can't show. Export it as PNG.",
    "img/foreign.heic":
      "The picture in this HEIC is coded as JPEG, which is not supported. Export it as a JPEG file.",
    "img/logo.svg": "This is an SVG drawing, which phones can't show. Export it as PNG.",
    "img/photos.zip": "This is a ZIP archive. Unpack it and drop the pictures.",
    "img/letter.docx":
      "This is a Word document, not a picture. Save the picture in it as JPEG or PNG.",
    "img/page.pdf": "This is a PDF document, not a picture. Export the page as JPEG or PNG.",
    "img/saved.jpg":
      "This is a web page, not a picture. Save the picture itself, not the page it is on.",
    "img/clip.mp4":
      "This is a film (MP4), not a picture. Export a still as JPEG, or a short clip as GIF.",
    "img/song.png.mp3": "This is an MP3 sound, not a picture. It belongs in the folder “sound”.",
    "sound/song.wma": "This is a WMA sound, which phones can't play. Convert it to M4A or MP3.",
    "sound/old.au": "This is an AU sound, which phones can't play. Convert it to M4A or MP3.",
    "sound/film.mp4": "This is a film, not a sound. Export its sound as M4A.",
    "sound/logo.m4a": "This is a PNG picture, not a sound. It belongs in the folder “img”.",
    "url/saved.url": "This is a web page, not a link. "
      + "Drop a web shortcut (.url, .webloc or .desktop), or a text file with the address.",
    "url/script.desktop": "This is a program, not a link. "
      + "Drop a web shortcut (.url, .webloc or .desktop), or a text file with the address.",
    "url/feed.url": "This is an XML file, not a link. "
      + "Drop a web shortcut (.url, .webloc or .desktop), or a text file with the address.",
    "url/page.url": "This is an XML file, not a link. "
      + "Drop a web shortcut (.url, .webloc or .desktop), or a text file with the address.",
    "url/logo.webloc": "This is a PNG picture, not a link. "
      + "Drop a web shortcut (.url, .webloc or .desktop), or a text file with the address.",
    "url/empty.webloc": "The shortcut has no address in it. Save it again from the browser.",
  ]

  @Test
  func `everybody is told what the file is and what to do, and shortcuts of every system work`()
    async throws
  {
    try await RunningServer.lend { scratch in
      try scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "beach.jpg")
      try scratch.makeFolder("assets/sound")
      try scratch.makeFolder("assets/url")
      let folder = scratch.folder.path
      let made = try await Child.run("/bin/bash", ["-c", "cd \(folder)\n" + Self.script])
      try #require(made.exitCode == 0, "\(made.errors)")
      for (name, text) in Self.texts { try scratch.drop(Array(text.utf8), as: "assets/" + name) }
      // Windows writes a shortcut's other lines in its own character set.
      let windows =
        Array("[InternetShortcut]\r\nIconFile=C:\\M".utf8) + [0xFC] + Array("ll\r\n".utf8)
      try scratch.drop(
        windows + Array("URL=https://www.swift.org/\r\n".utf8), as: "assets/url/windows.url")
      for name in ["sound/logo.m4a", "url/logo.webloc"] {
        try scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/" + name)
      }
    } to: { server in
      let alice = server.client("alice")
      var assets: [String: Asset] = [:]
      try await eventually("all were looked at") {
        for type in ["img", "sound", "url"] {
          for asset in try await alice.assets(richType: type) {
            assets["\(type)/\(asset.name)"] = asset
          }
        }
        return assets.count == Self.refusals.count + 14
          && assets.values.allSatisfy { $0.state != .preparing }
      }
      for (name, sentence) in Self.refusals {
        #expect(assets[name]?.reason == sentence, "\(name)")
      }
      for name in ["phone.heic", "web.avif", "sticker.webp"] {
        #expect(assets["img/" + name]?.state == .ready && assets["img/" + name]?.advice == nil)
        let id = try await alice.create(
          NewNotification("m", richType: "img", payload: name, to: .users(["alice"]))
        ).id
        for options in [MediaOptions(), MediaOptions(profile: "ios")] {
          #expect(try await alice.media(id, options: options).contentType == "image/jpeg")
        }
      }
      let moving = try #require(assets["img/moving.webp"])
      #expect(moving.state == .ready)
      #expect(moving.advice == "All devices show its first picture only.")
      for name in [
        "text.webloc", "binary.webloc", "windows.url", "linux.desktop", "started.desktop",
        "noted.desktop",
      ] {
        #expect(
          assets["url/" + name]?.state == .ready, "\(name): \(assets["url/" + name]?.reason ?? "")")
      }
      let id = try await alice.create(
        NewNotification("m", richType: "url", payload: "binary.webloc", to: .users(["alice"]))
      ).id
      let card = try await alice.media(id)
      #expect(
        String(decoding: card.bytes, as: UTF8.self).contains("https://www.swift.org/?a=1&b=2"))
    }
  }

  /// Two pictures of two pixels, and comments up to a size.
  private static func movingGIF(_ size: Int) -> [UInt8] {
    let head = Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 255, 255, 255, 0, 0, 0]
    let image: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0]
    let comment = [255] + [UInt8](repeating: 0x20, count: 255)
    let comments = repeatElement(comment, count: size / comment.count).joined()
    return head + image + image + [0x21, 0xFE] + comments + [0, 0x3B]
  }

  @Test func `a GIF's owner is told where it moves, by what was made of it`() async throws {
    try await RunningServer.lend { scratch in
      try scratch.drop(Self.movingGIF(1000), as: "assets/img/small.gif")
      try scratch.drop(Self.movingGIF(12_800_000), as: "assets/img/large.gif")
    } to: { server in
      let alice = server.client("alice")
      try await eventually("both are ready") { try await alice.assetCounts().ready == 6 }
      #expect(
        try await alice.asset("small.gif", richType: "img").advice
          == "It moves on iPhones and in browsers; other devices show its first picture.")
      let advice = try await alice.asset("large.gif", richType: "img").advice ?? ""
      #expect(
        advice.contains("Too big to move on iPhones: 13 MB, the limit is 10 MB."), "\(advice)")
      #expect(advice.hasSuffix("All devices show its first picture only."), "\(advice)")
      for (name, moves) in [("small.gif", true), ("large.gif", false)] {
        let id = try await alice.create(
          NewNotification("m", richType: "img", payload: name, to: .users(["alice"]))
        ).id
        let media = try await alice.media(id, options: MediaOptions(profile: "ios"))
        #expect((media.contentType == "image/gif") == moves)
      }
    }
  }
}
