import FoundationEssentials
import Glibc
import Origin

/// Where commands find the store that neither `--data` nor `RICHPUSH_DATA` names.
enum StoreLocation {
  /// The configuration of the packaged service.
  static let packageFile = "/etc/richpush/richpush.env"
  /// The folder that `richpush serve` uses by default.
  private static let localFolder = "var"

  /// The variables that say where it is: `var` in the current folder, if that is a store of this user, or else what
  /// the packaged service's configuration says.
  static var variables: [String: String] {
    let name = Option.data.variable
    if isOwn, DataFolderAdmin.isStore(localFolder) { return [name: localFolder] }
    let names =
      [name, Option.database.variable, Option.objects.variable, Option.oidcIssuer.variable]
      + ObjectStoreSettings.variables.map(\.name)
    return packagedVariables.filter { names.contains($0.key) && !$0.value.isEmpty }
  }

  /// Whether the folder is this user's: another may have made one where an administrator will stand.
  private static var isOwn: Bool {
    var status = stat()
    return stat(localFolder, &status) == 0 && status.st_uid == geteuid()
  }

  /// The packaged service's configuration; nothing for another program, and for a user who may not read it.
  private static var packagedVariables: [String: String] {
    guard Programs.arePackaged,
      let text = try? String(contentsOf: URL(filePath: packageFile), encoding: .utf8)
    else { return [:] }
    return EnvironmentFile(text).environment
  }

  /// What to say if no store was found.
  static var missing: CommandLineError {
    let files = FileManager.default
    let isHidden =
      Programs.arePackaged && files.fileExists(atPath: packageFile)
      && !files.isReadableFile(atPath: packageFile)
    let reason = isHidden ? ", and this user may not read \(packageFile), which names one" : ""
    return .usage(
      "there is no store of this user in the folder \(localFolder) here\(reason): pass --data FOLDER, or set "
        + Option.data.variable)
  }
}
