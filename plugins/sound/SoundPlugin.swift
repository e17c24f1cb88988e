import MediaTypes
import PluginKit

/// The rich type `sound`: describes a sound file, sends it unchanged, and draws its waveform.
@main
struct SoundPlugin {
  static func main() {
    serve { request in
      guard let asset = request.asset else {
        throw Refusal("A sound is a file: put one into assets/sound and name it in the payload.")
      }
      guard let file = OpenFile(asset.path) else {
        throw Refusal(status: 503, "The sound's file cannot be opened.")
      }
      return try respond(to: request, file)
    }
  }

  private static func respond(
    to request: PluginRequest, _ file: OpenFile
  ) throws -> PluginResponse {
    do {
      let sound = try Sound.read(file)
      let levels = sound.levels(in: file)
      if request.verb == .validate {
        return .json(try SoundFacts(sound, levels, bytes: file.size).json)
      }
      switch request.query["view"] {
      case nil, "": return .asset(type: sound.type.value)
      case "waveform":
        guard let levels else {
          throw Refusal(
            status: 415, PhoneAdvice.waveformRefusal(of: sound),
            detail: "no decoder for \(sound.codec.rawValue) of \(sound.duration ?? 0) s")
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
