import MediaTypes
import PluginKit

/// The rich type `sound`: says what a sound file is, hands on the original, and draws it.
@main
struct SoundPlugin {
  static func main() {
    serve { request in
      guard let asset = request.asset else {
        throw Refusal("A sound is a file: put one into assets/sound and name it in the payload.")
      }
      return try OpenFile.reading(asset.path) { file in
        guard let file else { throw Refusal(status: 503, "The sound's file cannot be opened.") }
        return try answer(request, about: file)
      }
    }
  }

  private static func answer(
    _ request: PluginRequest, about file: OpenFile
  ) throws -> PluginResponse {
    do {
      let sound = try Sound.read(file)
      let levels = sound.levels(in: file)
      if request.verb == .validate {
        return try .json(SoundFacts(sound, levels, bytes: file.size))
      }
      switch request.query["view"] {
      case nil, "": return .asset(type: sound.type.value)
      case "waveform":
        guard let levels else {
          throw Refusal(
            status: 415,
            "No waveform can be drawn of this sound. Save it as an M4A of 20 minutes at most.",
            detail: "no decoder for \(sound.codec.rawValue) of \(Int(sound.duration)) s")
        }
        return .document(try Waveform(levels, request).png(), type: "image/png")
      case .some(let view):
        throw Refusal("There is no view \(view) of a sound; there is waveform.")
      }
    } catch let error as SoundError {
      throw Refusal(error.reason, detail: error.detail)
    }
  }
}
