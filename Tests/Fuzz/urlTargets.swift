// Compiled together with the url plugin by url.sh, for libFuzzer.
import MediaTypes
import PluginKit

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "html": { bytes in
    let facts = PageFacts(html: PageText.decode(bytes, contentType: "text/html"))
    precondition((facts.title?.unicodeScalars.count ?? 0) <= 200)
    precondition((facts.description?.unicodeScalars.count ?? 0) <= 500)
    precondition((facts.site?.unicodeScalars.count ?? 0) <= 100)
    var reader = TagReader(String(decoding: bytes, as: UTF8.self))
    while let tag = reader.next() { precondition(!tag.name.isEmpty) }
  },
  "links": { bytes in
    guard let source = try? LinkSource.parse(String(decoding: bytes, as: UTF8.self)) else { return }
    guard let link = try? Link(source.url) else { return }
    precondition(link.url.utf8.allSatisfy { (0x21...0x7E).contains($0) }, link.url)
    // The limit is for the link as written, and escapes are longer.
    guard link.url.utf8.count <= 2048 else { return }
    precondition((try? Link(link.url))?.url == link.url, "\(link.url) is another when read again")
  },
  "shortcuts": { _ = try? LinkSource.parse(file: $0, MediaType.sniff($0).value) },
  "punycode": { bytes in _ = Punycode.decode(Substring(String(decoding: bytes, as: UTF8.self))) },
]
