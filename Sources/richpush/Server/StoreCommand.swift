import Media
import Origin

/// `richpush store`: the data folder's upkeep.
enum StoreCommand: Command {
  static let name = "store"
  static let summary = "checks, backs up and restores the data folder"
  static let help = """
      richpush store check [--repair]     every blob against its name, and every reference
      richpush store backup FOLDER        a copy of everything but the renditions, while in use
      richpush store restore FOLDER       makes the data folder (--data) from a backup

    check and backup work beside a running server; restore needs an empty data folder.
    """
  static let options: [Option] = [
    .value("data", "FOLDER", "where the store is kept", default: "var"),
    .flag("repair", "put right what can be derived again"),
  ]
  static let operands = ["check|backup|restore", "[FOLDER]"]

  static func run(_ arguments: Arguments) async throws {
    let data = try arguments.required("data")
    do {
      switch (arguments.operands[0], arguments.operands.dropFirst().first) {
      case ("check", nil):
        let report = try await DataFolderAdmin(data: data).check(
          repairing: arguments.flag("repair"))
        for line in report.lines { Terminal.say(line) }
        if !report.isSound {
          throw CommandLineError.failed(
            arguments.flag("repair")
              ? "not everything could be repaired" : "something is wrong; try --repair")
        }
      case ("backup", let folder?):
        try await DataFolderAdmin(data: data).backup(to: folder, programs: Programs.folder)
        Terminal.say("backed up to \(folder)")
      case ("restore", let folder?):
        try DataFolderAdmin.restore(from: folder, to: data)
        Terminal.say("restored \(data) from \(folder)")
      default:
        throw CommandLineError.usage("it is store check, backup FOLDER or restore FOLDER")
      }
    } catch let error as CommandLineError {
      throw error
    } catch {
      throw CommandLineError.failed(error.logDescription)
    }
  }
}
