import Glibc
import Origin
import Primitives

/// `richpush user export` and `user erase`: what is stored about a person.
enum UserData {
  /// Writes an archive with everything that is stored about a user to standard output.
  static func export(_ name: String, of users: DataFolderAdmin) async throws {
    guard !Terminal.isInteractive else {
      throw CommandLineError.usage(
        "the archive is not for a terminal: richpush user export \(name) > \(name).tar")
    }
    guard let output = FileDescriptor(owning: dup(STDOUT_FILENO)) else { throw Errno.current }
    defer { Terminal.showProgress("") }
    try await users.export(name, to: output) { Terminal.showProgress("\($0)") }
  }

  /// Erases a user, who is given by the name or, if there is none any more, by the number; asks on a terminal.
  static func erase(_ name: String?, _ arguments: Arguments, in users: DataFolderAdmin) async throws
  {
    let found =
      if let name { try await users.number(of: name) } else {
        try arguments.integer("number", in: 1...Int.max)
      }
    guard let number = found else {
      _ = try await users.finishErasures { Terminal.showProgress("\($0)") }
      Terminal.showProgress("")
      return Terminal.print(
        "\(name ?? "") is no user, or none any more: the erasure that had begun is finished")
    }
    let whom = name ?? "the user with the number \(number)"
    if !arguments.flag("yes"), isatty(STDIN_FILENO) == 1 {
      Terminal.printError("this removes \(whom) for good:")
      for line in try await users.erasure(of: number) { Terminal.printError("  \(line)") }
      Terminal.printError("to go on, type \(name ?? String(number)):")
      guard readLine() == name ?? String(number) else {
        throw CommandLineError.failed("nothing was changed")
      }
    }
    try await users.beginErasure(of: number)
    try await arguments.notifyServer()
    defer { Terminal.showProgress("") }
    let notes = try await users.finishErasures { Terminal.showProgress("\($0)") }
    Terminal.showProgress("")
    Terminal.print("erased \(whom)")
    for note in notes { Terminal.printError("\(note)") }
    Terminal.printError(
      "backups made before still have this user: after restoring one, run user erase --number \(number)"
    )
  }
}
