import Foundation
import RichPushClient
import Testing
import Waiting

/// What a content team reads of a sound that can be sent and that phones will not play as meant.
@Suite(.timeLimit(.minutes(2))) struct SoundAdviceTests {
  /// Sounds that FFmpeg makes of a tone, with what is to be read of each.
  private static let sounds = [
    "notes.ogg": (["-c:a", "libvorbis"], "iPhones don't play OGG"),
    "voice.opus": (["-c:a", "libopus"], "iPhones don't play OGG"),
    "shout.mp3": (["-af", "volume=60dB"], "too loud and will sound distorted"),
    "talk.wav": (["-af", "apad=whole_dur=40", "-ar", "8000"], "30 seconds at most"),
    "huge.wav": (
      ["-af", "apad=whole_dur=20", "-ac", "2", "-ar", "96000"],
      "Too big for iPhones: 7.7 MB, the limit is 5 MB. Save it as M4A."
    ),
    "chime.wav": (["-ar", "44100"], ""),
    "ring.m4a": (["-c:a", "aac"], ""),
    "song.mp3": (["-q:a", "2"], ""),
  ]

  @Test func `the advice about a sound stands beside it, in the list and in a dry run`()
    async throws
  {
    try await RunningServer.lend { scratch in
      for (name, (options, _)) in Self.sounds {
        let file = try scratch.makeFolder("assets/sound").appending(path: name).path
        let made = try await Child.run(
          "/usr/bin/ffmpeg",
          ["-v", "error", "-y", "-f", "lavfi", "-i", "sine=d=1"] + options + [file])
        try #require(made.exitCode == 0, "\(made.errors)")
      }
    } to: { server in
      let alice = server.client("alice")
      let folder = server.scratch.folder.path
      var assets: [Asset] = []
      try await eventually("all are ready") {
        assets = try await alice.assets(richType: "sound", state: .ready)
        return assets.count == Self.sounds.count
      }
      for asset in assets {
        let said = try #require(Self.sounds[asset.name]).1
        #expect(
          said.isEmpty ? asset.advice == nil : asset.advice?.contains(said) == true, "\(asset)")
        #expect(
          asset.advice?.contains(/(?i)ffmpeg|PCM|IMA4|-law|codec|chunk|full scale/) != true,
          "advice is for people, not engineers: \(asset)")
      }
      let list = try await Child.run(
        "richpush", ["asset", "list", "--server", server.endpoint.absoluteString])
      let check = try await Child.run(
        "richpush", ["asset", "check", folder + "/assets", "--plugins", folder + "/plugins"])
      for (name, (_, said)) in Self.sounds {
        for output in [list.output, check.output] {
          #expect(
            output.contains { $0.contains("sound/" + name) && (said.isEmpty || $0.contains(said)) },
            "\(output)")
        }
      }
    }
  }
}
