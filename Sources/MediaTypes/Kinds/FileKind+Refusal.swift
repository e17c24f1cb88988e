extension FileKind {
  /// What a rich type takes, by the first of the patterns that it accepts.
  private enum Wanted {
    case picture, sound, film, text
    case types([String])

    init(_ patterns: [String]) {
      self =
        switch patterns.first?.split(separator: "/").first {
        case "image": .picture
        case "audio": .sound
        case "video": .film
        case "text": .text
        default: .types(patterns)
        }
    }

    var noun: String {
      switch self {
      case .picture: "picture"
      case .sound: "sound"
      case .film: "film"
      case .text: "text"
      case .types: "file"
      }
    }

    var example: String {
      switch self {
      case .picture: "Drop a JPEG, PNG or GIF."
      case .sound: "Drop an M4A, MP3, WAV or AIFF."
      case .film: "Drop an MP4."
      case .text: "Drop a text file."
      case .types(let patterns): "It takes \(patterns.joined(separator: ", "))."
      }
    }
  }

  /// Why a rich type that accepts media of these patterns does not take the file, and what its owner can do.
  ///
  /// `folder` is another rich type's that takes it.
  package func refusal(accepting patterns: [String], folder: String? = nil) -> String {
    let wanted = Wanted(patterns)
    if sort == .unknown { return "This is \(name). \(wanted.example)" }
    if sort == .archive { return "This is \(name). Unpack it and drop the \(wanted.noun)s." }
    if case .types = wanted { return "This is \(name). \(wanted.example)" }
    guard !isA(wanted) else {
      let use = wanted.noun == "sound" ? "play" : "show"
      let reason = sort == .photo ? "" : ", which phones can't \(use)"
      return "This is \(name)\(reason). \(remedy(wanted) ?? wanted.example)"
    }
    let place = folder.map { "It belongs in the folder “\($0)”." }
    return "This is \(name), not a \(wanted.noun). \(place ?? remedy(wanted) ?? wanted.example)"
  }

  private func isA(_ wanted: Wanted) -> Bool {
    switch (sort, wanted) {
    case (.picture, .picture), (.drawing, .picture), (.photo, .picture), (.sound, .sound),
      (.film, .film), (.text, .text):
      true
    default: false
    }
  }

  /// What the owner can do to get what is wanted out of the file.
  private func remedy(_ wanted: Wanted) -> String? {
    switch (sort, wanted) {
    case (.picture, .picture): "Export it as JPEG or PNG."
    case (.drawing, .picture): "Export it as PNG."
    case (.photo, .picture): "Export it as JPEG (PNG if transparent)."
    case (.sound, .sound): "Convert it to M4A or MP3."
    case (.film, .picture): "Export a still as JPEG, or a short clip as GIF."
    case (.film, .sound): "Export its sound as M4A."
    case (.page, .picture): "Export the page as JPEG or PNG."
    case (.document, .picture): "Save the picture in it as JPEG or PNG."
    case (.webPage, .picture), (.webPage, .sound):
      "Save the \(wanted.noun) itself, not the page it is on."
    default: nil
    }
  }
}
