import MediaTypes
import PluginKit

/// The rich type `sound`: says what a sound file is, and hands the original to the phone.
@main
struct Plugin {
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
      return switch request.verb {
      case .validate: try .json(SoundFacts(sound, bytes: file.size))
      case .render, .describe: .asset(type: sound.type.value)
      }
    } catch let error as SoundError {
      throw Refusal(error.reason)
    }
  }
}
