extension FileKind {
  /// What a rich type accepts.
  private struct Wanted {
    let noun: String
    let example: String
    let sorts: Set<Sort>
  }

  /// By the family of the first media type that the rich type accepts.
  private static let wanted = [
    "image": Wanted(
      noun: "picture", example: "Drop a JPEG, PNG or GIF.", sorts: [.picture, .drawing, .photo]),
    "audio": Wanted(noun: "sound", example: "Drop an M4A, MP3, WAV or AIFF.", sorts: [.sound]),
    "video": Wanted(noun: "film", example: "Drop an MP4.", sorts: [.film]),
    "text": Wanted(noun: "text", example: "Drop a text file.", sorts: [.text]),
  ]

  /// Whether a rich type that accepts these media types is for such files.
  ///
  /// A rich type for films accepts `video/mp4`, and so does one for sounds, which may be in the same container: the
  /// first media type tells what it is for.
  package func isWanted(accepting patterns: [String]) -> Bool {
    Self.wanted(patterns)?.sorts.contains(sort) ?? true
  }

  private static func wanted(_ patterns: [String]) -> Wanted? {
    patterns.first?.split(separator: "/").first.flatMap { wanted[String($0)] }
  }

  /// Why a rich type that accepts these media types does not take the file, and what its owner can do.
  ///
  /// - Parameters:
  ///   - patterns: Media types such as `image/*`.
  ///   - folder: The folder of another rich type that takes it.
  /// - Returns: Two sentences.
  package func refusal(accepting patterns: [String], folder: String? = nil) -> String {
    let wanted = Self.wanted(patterns)
    if sort == .archive {
      return "This is \(name). Unpack it and drop the \(wanted?.noun ?? "file")s."
    }
    guard let wanted, sort != .unknown else {
      let example = wanted?.example ?? "It takes \(patterns.joined(separator: ", "))."
      return "This is \(name). \(example)"
    }
    let remedy = remedy(wanted.noun)
    guard !wanted.sorts.contains(sort) else {
      let use = wanted.noun == "sound" ? "play" : "show"
      let reason = sort == .photo ? "" : ", which phones can't \(use)"
      return "This is \(name)\(reason). \(remedy ?? wanted.example)"
    }
    let place = folder.map { "It belongs in the folder “\($0)”." }
    return "This is \(name), not a \(wanted.noun). \(place ?? remedy ?? wanted.example)"
  }

  /// What the owner can do to get what is wanted out of the file.
  private func remedy(_ noun: String) -> String? {
    switch (sort, noun) {
    case (.picture, "picture"): "Export it as JPEG or PNG."
    case (.drawing, "picture"): "Export it as PNG."
    case (.photo, "picture"): "Export it as JPEG (PNG if transparent)."
    case (.sound, "sound"): "Convert it to M4A or MP3."
    case (.film, "picture"): "Export a still as JPEG, or a short clip as GIF."
    case (.film, "sound"): "Export its sound as M4A."
    case (.page, "picture"): "Export the page as JPEG or PNG."
    case (.document, "picture"): "Save the picture in it as JPEG or PNG."
    case (.webPage, "picture"), (.webPage, "sound"):
      "Save the \(noun) itself, not the page it is on."
    default: nil
    }
  }
}
