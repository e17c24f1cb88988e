import FoundationEssentials
import PluginHost
import RichPushClient

/// `richpush device`: simulates a phone.
enum DeviceCommand: Command {
  static let name = "device"
  static let summary = "simulates a phone: registers, listens, and fetches what each push names"
  static let help = """
    Registers a device for a user and waits for pushes. For each, it fetches the media, saves it,
    and prints what was received and how long it took. It resumes after restarts, its own and the
    server's, and then receives what was pushed meanwhile. Ctrl-C ends it. It reports each push as
    displayed, and with --press or --reply the button that it presses. With --webpush the server
    posts encrypted pushes to a port of this machine; it needs --demo and --push webpush.

    Example:
      richpush device --user alice --profile ios --open
    """

  static let options: [Option] =
    Account.options() + [
      .value("folder", "PATH", "where the media is saved (default received/NAME)"),
      .flag("open", "show each picture with this desktop's viewer"),
      .value("count", "N", "end after N pushes"),
      .value("press", "ID", "press this button of each notification that has it"),
      .value("reply", "TEXT", "answer this where the button of --press asks for a text"),
      .flag("webpush", "be a Web Push receiver on this machine, for a server with --demo"),
      .value("profile", "NAME", "fetch media sized for ios, android, watch, web or thumb"),
      .value("width", "POINTS", "fetch pictures this wide, or the next available size up"),
      .value("height", "POINTS", "fetch media at most this high"),
      .value("fit", "HOW", "contain or cover the box of width and height"),
      .value("dpr", "FACTOR", "pixels per point of the screen"),
    ]

  static func run(_ arguments: Arguments) async throws {
    let client = try Account(arguments).client
    let path = arguments.string("folder") ?? "received/\(client.user)"
    let count = try arguments.integer("count")
    let options = try mediaOptions(arguments)
    let viewer = arguments.flag("open") ? Viewer() : nil
    if viewer == nil, arguments.flag("open") {
      Terminal.printError("this machine has no picture viewer; --open is ignored")
    }
    var device = try Device(
      client: client, folder: URL(filePath: path), options: options, viewer: viewer)
    (device.button, device.reply) = (arguments.string("press"), arguments.string("reply"))
    try await arguments.flag("webpush")
      ? device.runWebPush(count: count) : device.run(count: count)
  }

  private static func mediaOptions(_ arguments: Arguments) throws -> MediaOptions {
    var options = MediaOptions(
      profile: try arguments.string(
        "profile", among: ["ios", "android", "watch", "web", "thumb"]))
    options.width = try arguments.integer("width", in: 1...65_535)
    options.height = try arguments.integer("height", in: 1...65_535)
    options.fit = try arguments.choice("fit")
    if let text = arguments.string("dpr") {
      guard let scale = Double(text), (0.5...8).contains(scale) else {
        throw CommandLineError.usage("--dpr must be a number from 0.5 to 8, not '\(text)'")
      }
      options.scale = scale
    }
    return options
  }
}

/// The program of this desktop that shows pictures.
struct Viewer {
  private let program: URL

  /// Searches `PATH`; nil if there is none, as on a machine without a screen.
  init?() {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = path.split(separator: ":").map { URL(filePath: String($0)) }
    let programs = ["xdg-open", "open", "eog", "feh", "display"].flatMap { name in
      folders.map { $0.appending(path: name) }
    }
    guard
      let program = programs.first(where: {
        FileManager.default.isExecutableFile(atPath: $0.path)
      })
    else { return nil }
    self.program = program
  }

  /// Starts the viewer with a file, and does not wait for it.
  func show(_ file: URL) {
    do {
      try Program(
        program.path, [file.path], environment: ProcessInfo.processInfo.environment,
        launcher: Programs.launcher
      ).start()
    } catch {
      Terminal.printError("\(program.path) did not start: \(error)")
    }
  }
}
