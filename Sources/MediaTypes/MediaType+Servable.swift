extension MediaType {
  /// Whether a device may be given bytes of this type: never HTML, XML, SVG or a script.
  package var isServable: Bool {
    switch family {
    case "image", "audio", "video", "font": !value.hasSuffix("xml")
    case "text": Self.servableText.contains(value)
    case "application": !Self.isActive(value.dropFirst("application/".count))
    default: false
    }
  }

  private static let servableText: Set = [
    "text/plain", "text/csv", "text/calendar", "text/vcard", "text/uri-list",
  ]

  /// Whether a browser or a shell would run what an application subtype carries.
  private static func isActive(_ subtype: Substring) -> Bool {
    subtype.hasSuffix("xml") || subtype.hasSuffix("html") || subtype.hasSuffix("script")
      || activeSubtypes.contains(subtype)
  }

  private static let activeSubtypes: Set<Substring> = [
    "x-sh", "x-csh", "x-shellscript", "x-perl", "x-python", "x-ruby", "x-php", "x-httpd-php",
    "x-httpd-cgi", "x-shockwave-flash", "java-archive", "hta", "wasm", "xslt", "manifest+json",
  ]
}
