import FoundationEssentials
import PluginHost
import PluginTester

extension PluginCommand {
  /// Writes the folder of a plugin into one file.
  static func pack(_ path: String, _ arguments: Arguments) throws {
    let tester = try PluginTester(
      path.contains("/") ? path : PluginFolders(arguments).path(of: path),
      programs: Programs.folder, sandbox: try arguments.sandbox())
    let packed = try PluginArchive.pack(
      tester, to: arguments.string("output"), replaces: arguments.flag("replace"))
    for path in packed.omitted { Terminal.printError("left out: \(path)") }
    Terminal.print("\(packed.path): \(packed.files) files")
  }

  /// Checks the plugin in an archive, and makes it the plugin of its name.
  static func install(_ archive: String, _ arguments: Arguments) async throws {
    let folders = PluginFolders(arguments)
    let unpacked: UnpackedPlugin
    do { unpacked = try UnpackedPlugin(archive, into: folders.own) } catch {
      throw CommandLineError.failed("\(error)", exitCode: ExitCode.refused)
    }
    let name = unpacked.name
    let existing = ([unpacked.predecessor] + folders.paths.dropFirst().map { "\($0)/\(name)" })
      .compactMap(\.self).first(where: FileManager.default.fileExists(atPath:))
    if let existing, !arguments.flag("replace") {
      throw CommandLineError.failed(
        "there is a plugin \(existing) already; --replace uses this one instead")
    }
    let failed = try await failures(at: unpacked.path, arguments)
    guard failed == 0 else {
      throw CommandLineError.failed(
        "\(failed) of \(Check.all.count) checks failed; nothing was installed",
        exitCode: ExitCode.refused)
    }
    let (path, former) = try unpacked.install(replacing: arguments.flag("replace"))
    Terminal.print("installed \(path)")
    if let former { Terminal.print("the one before is kept as \(former)") }
    let tester = try PluginTester(path, programs: Programs.folder)
    if let plugin = tester.plugin, plugin.manifest.network {
      Terminal.print("it asks for the network: richpush serve --network \(name) permits it")
    }
  }
}
