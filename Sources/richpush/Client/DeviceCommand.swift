import Foundation
import RichPushClient

/// `richpush device`: a phone without the glass.
enum DeviceCommand: Command {
  static let name = "device"
  static let summary = "simulates a phone: registers, listens, and fetches what each push names"
  static let help = """
    Registers a device for a user, waits for pushes, and for each fetches the media, says what
    came and how long it took, and saves it. It survives restarts of the server and its own:
    what was pushed meanwhile is delivered then. Ctrl-C ends it.

    Example:
      richpush device --user alice --profile ios --open
    """

  static let options: [Option] =
    Account.options() + [
      .value("folder", "PATH", "where the media is saved (default received/NAME)"),
      .flag("open", "show each picture with this desktop's viewer"),
      .value("count", "N", "end after N pushes"),
      .value("profile", "NAME", "fetch media cut for 'ios', 'android', 'watch', 'web' or 'thumb'"),
      .value("width", "POINTS", "fetch pictures this wide, or the next size up there is"),
      .value("height", "POINTS", "fetch media at most this high"),
      .value("fit", "HOW", "'contain' or 'cover' the box of width and height"),
      .value("dpr", "FACTOR", "pixels per point of the screen"),
    ]

  static func run(_ arguments: Arguments) async throws {
    let client = try Account(arguments).client
    let path = arguments.string("folder") ?? "received/\(client.user)"
    let count = try arguments.integer("count")
    let options = try mediaOptions(arguments)
    var device = try Device(
      client: client, folder: URL(filePath: path), options: options,
      viewer: arguments.flag("open") ? viewer() : nil)
    try await device.run(count: count)
  }

  private static let profiles = ["ios", "android", "watch", "web", "thumb"]

  private static func mediaOptions(_ arguments: Arguments) throws -> MediaOptions {
    let edge = 1...65_535
    let profile = arguments.string("profile")
    if let profile, !profiles.contains(profile) {
      let names = profiles.joined(separator: ", ")
      throw CommandLineError.usage("--profile is one of \(names), not '\(profile)'")
    }
    var options = MediaOptions(profile: profile)
    options.width = try arguments.integer("width", in: edge)
    options.height = try arguments.integer("height", in: edge)
    if let fit = arguments.string("fit") {
      guard let fit = MediaOptions.Fit(rawValue: fit) else {
        throw CommandLineError.usage("--fit is 'contain' or 'cover', not '\(fit)'")
      }
      options.fit = fit
    }
    if let text = arguments.string("dpr") {
      guard let scale = Double(text), (0.5...8).contains(scale) else {
        throw CommandLineError.usage("--dpr is a number from 0.5 to 8, not '\(text)'")
      }
      options.scale = scale
    }
    return options
  }

  private static func viewer() -> Viewer? {
    let viewer = Viewer(path: ProcessInfo.processInfo.environment["PATH"] ?? "")
    if viewer == nil { Terminal.complain("this machine has no picture viewer; --open is ignored") }
    return viewer
  }
}
