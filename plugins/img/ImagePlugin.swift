import PluginKit

/// The rich type `img`: any picture a content team has, as the right picture for a device.
@main
struct ImagePlugin {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "render" {
      ImageRenderCommand.run(Array(arguments.dropFirst()))
    } else {
      serve(ImagePlugin.answer)
    }
  }
}
