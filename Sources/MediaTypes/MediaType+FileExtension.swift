extension MediaType {
  /// The usual file name extension, without its dot; `bin` for a type without one.
  ///
  /// An iOS attachment is recognised by this extension, so it must follow from the bytes.
  package var fileExtension: String { Self.extensions[value] ?? "bin" }

  private static let extensions = [
    "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp",
    "image/heic": "heic", "image/heif": "heif", "image/avif": "avif", "image/bmp": "bmp",
    "image/x-icon": "ico", "image/tiff": "tiff", "image/jxl": "jxl", "image/svg+xml": "svg",
    "image/jp2": "jp2", "image/vnd.adobe.photoshop": "psd",
    "audio/wav": "wav", "audio/aiff": "aiff", "audio/x-caf": "caf", "audio/mpeg": "mp3",
    "audio/mp4": "m4a", "audio/aac": "aac", "audio/ogg": "ogg", "audio/flac": "flac",
    "audio/amr": "amr", "audio/amr-wb": "awb", "audio/midi": "mid", "audio/basic": "au",
    "video/mp4": "mp4", "video/quicktime": "mov", "video/3gpp": "3gp", "video/webm": "webm",
    "video/x-matroska": "mkv", "video/x-msvideo": "avi", "video/ogg": "ogv",
    "video/mpeg": "mpg", "video/mp2t": "ts",
    "text/plain": "txt", "text/html": "html", "text/xml": "xml", "text/csv": "csv",
    "text/x-shellscript": "sh", "text/vcard": "vcf", "text/calendar": "ics",
    "application/json": "json", "application/pdf": "pdf", "application/zip": "zip",
    "application/gzip": "gz", "application/x-rar-compressed": "rar",
    "application/vnd.apple.pkpass": "pkpass", "application/vnd.ms-asf": "asf",
    "application/x-plist": "plist",
  ]
}
