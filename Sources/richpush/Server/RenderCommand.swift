import FoundationEssentials
import Glibc
import PluginTester

/// `richpush render`: renders a picture as a device would receive it.
///
/// This program links no image decoder, so the plugin's executable replaces this process (execve(2)).
enum RenderCommand: Command {
  static let name = "render"
  static let summary = "renders a picture as a device would receive it"
  static let help = """
    Renders the picture IN as the img plugin does for a device, and writes it to OUT.

      richpush render assets/img/beach.jpg thumb.jpg --profile thumb --explain
      richpush render photo.png small.png --width 320 --dpr 2

    --explain prints the steps with sizes and times; docs/IMAGES.md explains the options. Exit
    code 65 means that the picture was refused, for the reason printed.
    """
  static let options: [Option] = [
    .value("profile", "NAME", "ios, android, watch, web or thumb"),
    .value("width", "PIXELS", "largest width"),
    .value("height", "PIXELS", "largest height"),
    .value("fit", "HOW", "contain shows all of it, cover fills width and height"),
    .value("focus", "X,Y", "the point that cover keeps visible, as fractions such as 0.5,0.3"),
    .value("dpr", "NUMBER", "device pixels per pixel of width and height, 0.5 to 4"),
    .value("max-bytes", "BYTES", "largest file size"),
    .flag("linear", "resample in linear light"),
    .flag("explain", "print the steps"),
    PluginFolders.option,
  ]
  static let operands = ["IN", "OUT"]

  static func run(_ arguments: Arguments) async throws {
    let installed = try InstalledPlugins(
      folders: PluginFolders(arguments).paths, programs: Programs.folder)
    let program = try installed.executable(of: "img")
    var words = [program, "render"] + arguments.operands
    for name in ["profile", "width", "height", "fit", "focus", "dpr", "max-bytes"] {
      if let value = arguments.string(name) { words += ["--\(name)", value] }
    }
    if arguments.flag("linear") { words += ["--linear", "1"] }
    if arguments.flag("explain") { words.append("--explain") }
    var pointers = words.map { strdup($0) } + [nil]
    execv(program, &pointers)
    throw CommandLineError.failed("\(program) cannot be run: \(String(cString: strerror(errno)))")
  }
}
