import Glibc
import Origin
import PluginHost
import Primitives

/// `richpush store`: checks, backs up and restores the data folder.
enum StoreCommand: Command {
  static let name = "store"
  static let summary = "checks, backs up and restores the data folder"
  static let help = """
      richpush store check [--repair]     verifies every blob's hash, and every reference
      richpush store backup FOLDER        copies everything but the renditions
      richpush store restore FOLDER       creates the data folder (--data) from a backup
      richpush store migrate --from var --to postgres://richpush@db.example/richpush
                                          copies the records to PostgreSQL, for several nodes

    With --objects, check reads the object store as well, and backup leaves out what that has. With
    --database, backup needs pg_dump, and restore says how pg_restore is used.

    check and backup work while a server is running. backup and restore write to a folder that is
    absent or empty. Root acts as the data folder's owner, who must then be able to create or read
    FOLDER.

    migrate needs a database that no server has used, and no server may be running on the folder.
    If it is interrupted, run it again: it goes on where it was. At the end it compares all records.
    Content stays in the folder or in the object store.
    """
  static let options: [Option] = [
    .data, .database, .objects, .flag("repair", "check: repair what can be derived again"),
    .value("from", "FOLDER", "migrate: the data folder whose records are copied"),
    .value("to", "URL", "migrate: the empty database, postgres://…"),
  ]
  static let operands = ["check|backup|restore|migrate", "[FOLDER]"]

  static func run(_ arguments: Arguments) async throws {
    if arguments.operands == ["migrate"] { return try await migrate(arguments) }
    let data = try arguments.dataFolder()
    switch (arguments.operands[0], arguments.subject) {
    case ("check", nil):
      let isRepairing = arguments.flag("repair")
      let report = try await admin(data, arguments).check(repairing: isRepairing)
      for line in report.lines { Terminal.print("\(line)") }
      if !report.isSound {
        throw CommandLineError.failed(
          isRepairing ? "not everything could be repaired" : "something is wrong; try --repair")
      }
    case ("backup", let folder?):
      defer { Terminal.showProgress("") }
      let left = try await admin(data, arguments).backup(
        to: folder, programs: Programs.folder,
        dump: { try DumpProgram.run($0, $1, arguments.environment) },
        progress: { Terminal.showProgress("\($0)") })
      Terminal.showProgress("")
      Terminal.print("backed up to \(folder)")
      for line in left { Terminal.print("\(line)") }
    case ("restore", let folder?):
      let rest = try DataFolderAdmin.restore(from: folder, to: data)
      Terminal.print("restored \(data) from \(folder)")
      for line in rest { Terminal.print("\(line)") }
    default:
      throw CommandLineError.usage(
        "usage: store check, backup FOLDER, restore FOLDER or migrate --from FOLDER --to URL")
    }
  }

  private static func migrate(_ arguments: Arguments) async throws {
    let folder = try arguments.required("from")
    guard let url = try arguments.databaseURL("to") else {
      throw CommandLineError.usage("--to is missing")
    }
    try ServerUser.becomeOwner(of: folder)
    let address = ConnectionURL.hidingPassword(url)
    defer { Terminal.showProgress("") }
    let lines = try await DataFolderAdmin.migrate(data: folder, to: url, address: address) {
      Terminal.showProgress("\($0)")
    }
    Terminal.showProgress("")
    for line in lines { Terminal.print("\(line)") }
  }

  private static func admin(_ data: String, _ arguments: Arguments) throws -> DataFolderAdmin {
    try DataFolderAdmin(
      data: data, database: arguments.database(),
      objects: try ObjectStoreSettings(
        arguments.string("objects"), environment: arguments.environment))
  }
}

/// `pg_dump`, which writes the records of a PostgreSQL database.
private enum DumpProgram {
  static func run(
    _ arguments: [String], _ additions: [String: String], _ environment: [String: String]
  ) throws {
    let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    let programs = folders.map { "\($0)/pg_dump" }
    guard let program = programs.first(where: { access($0, X_OK) == 0 }) else {
      throw CommandLineError.failed(
        "pg_dump, which writes the records, is not installed: install the package postgresql-client"
      )
    }
    let dump = Program(
      program, arguments, environment: environment.merging(additions) { $1 },
      launcher: Programs.launcher)
    guard try dump.run() == 0 else {
      throw CommandLineError.failed("pg_dump could not write the records; nothing was backed up")
    }
  }
}
