import MediaTypes
import Testing

@Suite struct SniffTests {
  @Test(arguments: Sample.types)
  func `knows a type by its bytes`(sample: Sample) {
    #expect(MediaType.sniff(sample.bytes).value == sample.type)
  }

  @Test(arguments: Sample.types)
  func `survives every truncation of every sample`(sample: Sample) {
    for count in 0...min(sample.bytes.count, 80) {
      _ = MediaType.sniff(Array(sample.bytes.prefix(count)))
    }
  }

  @Test(arguments: [
    "<!DOCTYPE HTML><p>", "  \n<html>", "<script>alert(1)</script>", "\u{FEFF}<ScRiPt src=x>",
    "<!-- hello -->", "<a href=x>", "<svg xmlns=", "<?xml version='1.0'?><svg/>", "<?xml ?>",
    "#!/bin/sh\necho hi", "<?php phpinfo();", "<img src=x onerror=alert(1)>",
  ])
  func `recognises markup and scripts`(text: String) {
    let active = [
      "text/html", "text/xml", "image/svg+xml", "text/x-shellscript", "application/x-httpd-php",
    ]
    #expect(active.contains(MediaType.sniff(Array(text.utf8)).value))
  }

  @Test(arguments: ["BMW drives well", "<3 you", "ID4", "GIF88a", "{\"a\":1}", "RIFFraff", "Ünï"])
  func `takes text that only resembles a signature for text`(text: String) {
    #expect(MediaType.sniff(Array(text.utf8)) == MediaType("text/plain"))
  }

  @Test func `looks no further than the prefix`() {
    let bytes = [UInt8](repeating: 0x41, count: MediaType.prefixLength) + [0]
    #expect(MediaType.sniff(bytes) == MediaType("text/plain"))
    #expect(MediaType.sniff([0] + bytes) == MediaType("application/octet-stream"))
  }

  @Test func `needs two frames before it believes in MPEG audio`() {
    let frame = Sample.mp3Frame()
    #expect(MediaType.sniff(frame + frame).value == "audio/mpeg")
    #expect(MediaType.sniff(frame + [0, 1, 2, 3]) == MediaType("application/octet-stream"))
  }
}
