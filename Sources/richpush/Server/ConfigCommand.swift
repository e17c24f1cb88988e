import FoundationEssentials
import Glibc
import Media
import Origin
import Primitives
import RichPushAPI

/// `richpush config`: checks the server's configuration file, or prints a new one.
enum ConfigCommand: Command {
  static let name = "config"
  static let summary = "checks the server's configuration file, or prints a new one"
  static let help = """
      richpush config check [FILE]    names what is unknown or wrong, with its line; prints what is
                                      in force
      richpush config template        prints a file with every variable of the server, commented out

    FILE is read as systemd reads it for the packaged service; the default is
    /etc/richpush/richpush.env. The exit code of check is 78 if anything is wrong. It connects to the
    database, writes, reads and removes a small object in the bucket of --objects, asks the provider
    of --oidc-issuer to describe itself, looks for the admin of --password-sign-in, reads the TLS
    certificates, and warns of what is permitted and probably not meant, such as secrets that every
    user of the machine can read: in FILE, and in the files that it names.
    """
  static let options: [Option] = [
    .flag("offline", "check: connect to no database, object store or provider").withoutVariable
  ]
  static let operands = ["check|template", "[FILE]"]

  static func run(_ arguments: Arguments) async throws {
    switch (arguments.operands[0], arguments.subject) {
    case ("check", let path):
      try await check(
        path ?? StoreLocation.packageFile, isOffline: arguments.flag("offline"))
    case ("template", nil): Terminal.print("\(lines: template)")
    default: throw CommandLineError.usage("usage: config check [FILE] or config template")
    }
  }

  // MARK: - Checking

  private static func check(_ path: String, isOffline: Bool) async throws {
    guard let text = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else {
      throw CommandLineError.failed("the file \(path) cannot be read", exitCode: ExitCode.notFound)
    }
    let file = EnvironmentFile(text)
    var (arguments, problems) = problems(in: file)
    let secrets = EnvironmentSecrets(in: file.environment)
    if let warning = secrets.warning(of: path) { Terminal.printError("\(warning)") }
    let configuration = try arguments.map { try ServeCommand.configuration($0) }
    if let configuration {
      for warning in configuration.warnings { Terminal.printError("\(warning)") }
      for problem in certificateProblems(configuration) {
        problems.append((file.line(of: "RICHPUSH_TLS_CERTIFICATE") ?? 0, problem))
      }
      if let problem = recordsProblem(configuration, isOffline: isOffline) {
        let variable = configuration.database == nil ? Option.data : .database
        problems.append((file.line(of: variable.variable) ?? 0, problem))
      }
      if !isOffline, let problem = await objectsProblem(configuration) {
        problems.append((file.line(of: Option.objects.variable) ?? 0, problem))
      }
      if !isOffline, let problem = await providerProblem(configuration) {
        problems.append((file.line(of: Option.oidcIssuer.variable) ?? 0, problem))
      }
      if let problem = passwordProblem(configuration, isOffline: isOffline) {
        problems.append((file.line(of: "RICHPUSH_PASSWORD_SIGN_IN") ?? 0, problem))
      }
    }
    for problem in problems.sorted(by: { $0.line < $1.line }) {
      Terminal.printError("\(path):\(problem.line): \(problem.text)")
    }
    if let arguments { Terminal.print(Table.text(settings(file, arguments))) }
    if !problems.isEmpty {
      throw CommandLineError.failed(
        "\(path): \(problems.count) \(problems.count == 1 ? "problem" : "problems")",
        exitCode: ExitCode.configuration)
    }
  }

  /// Why clients would refuse a certificate, or the server could not start with it; what is less is a warning.
  private static func certificateProblems(_ configuration: OriginConfiguration) -> [String] {
    // systemd passes the service copies of files that others may not read, while it runs.
    for path in configuration.certificates.flatMap({ [$0.certificate, $0.key] })
    where access(path, R_OK) != 0 {
      let cause = Errno.current
      guard cause == Errno(rawValue: EACCES) || path.hasPrefix("/run/credentials/") else { break }
      Terminal.printError("the certificate was not checked: \(path): \(cause)")
      return []
    }
    do {
      let problems = try configuration.checkCertificates()
      for problem in problems where !problem.isFatal { Terminal.printError("\(problem.sentence)") }
      return problems.filter(\.isFatal).map(\.sentence)
    } catch { return [error.logDescription] }
  }

  /// Why the server could not use its records.
  private static func recordsProblem(
    _ configuration: OriginConfiguration, isOffline: Bool
  ) -> String? {
    // A relative folder is one of where the server is started.
    guard configuration.data.hasPrefix("/") || configuration.database != nil else { return nil }
    do {
      try DataFolderAdmin.checkRecords(
        data: configuration.data, database: isOffline ? nil : configuration.database)
      return nil
    } catch { return error.logDescription }
  }

  /// Why the server could not use its bucket.
  private static func objectsProblem(_ configuration: OriginConfiguration) async -> String? {
    do {
      try await configuration.objects?.check()
      return nil
    } catch { return error.logDescription }
  }

  /// Why nobody could sign in at the provider.
  private static func providerProblem(_ configuration: OriginConfiguration) async -> String? {
    do {
      try await configuration.signIn.checkProvider()
      return nil
    } catch { return error.logDescription }
  }

  /// Why nobody could sign in while the provider is away.
  private static func passwordProblem(
    _ configuration: OriginConfiguration, isOffline: Bool
  ) -> String? {
    guard configuration.data.hasPrefix("/"), !isOffline || configuration.database == nil else {
      return nil
    }
    do {
      try DataFolderAdmin.checkPasswordUser(
        of: configuration.signIn, data: configuration.data, database: configuration.database)
      return nil
    } catch { return error.logDescription }
  }

  /// All problems, and the settings that have none.
  private static func problems(
    in file: EnvironmentFile
  ) -> (arguments: Arguments?, [(line: Int, text: String)]) {
    var problems: [(line: Int, text: String)] = file.strayLines.map {
      ($0, "this is no assignment NAME=value, and is ignored")
    }
    for assignment in file.assignments where file.line(of: assignment.name) != assignment.line {
      problems.append((assignment.line, "\(assignment.name) is set again below"))
    }
    var environment = file.environment
    for name in environment.keys
    where name.hasPrefix("RICHPUSH_") && !RichPush.variables.contains(name) {
      let hint = Suggestion.hint(to: name, among: RichPush.variables)
      problems.append((file.line(of: name) ?? 0, "unknown variable \(name)\(hint)"))
      environment[name] = nil
    }
    // Each round finds one error; without its variable, the next one is found.
    while true {
      do {
        let arguments = try Arguments([], environment: environment, for: ServeCommand.self)
        _ = try ServeCommand.configuration(arguments)
        return (arguments, problems)
      } catch {
        let text = error.logDescription
        let named = variables.first { variable, flag in
          environment[variable] != nil
            && (text.contains(variable) || flag.map(text.contains) ?? false)
        }
        // A missing variable of a push service is a problem of the list of services.
        let variable =
          named?.variable ?? (environment["RICHPUSH_PUSH"] == nil ? nil : "RICHPUSH_PUSH")
        problems.append((variable.flatMap(file.line) ?? 0, text))
        guard let variable else { return (nil, problems) }
        environment[variable] = nil
      }
    }
  }

  /// Longest first, so that `RICHPUSH_PUSH` is not found in `RICHPUSH_PUSH_CA`.
  private static var variables: [(variable: String, flag: String?)] {
    let flags = ServeCommand.options.map {
      (variable: $0.variable, flag: "--\($0.name)" as String?)
    }
    let others = otherVariables.map { (variable: $0.name, flag: nil as String?) }
    return (flags + others).sorted { $0.variable.count > $1.variable.count }
  }

  /// Variables that belong to no flag.
  private static var otherVariables: [(name: String, explanation: String, isSecret: Bool)] {
    OriginConfiguration.pushVariables + ObjectStoreSettings.variables + SignInSettings.variables
  }

  /// A table of what is in force, without secrets.
  private static func settings(_ file: EnvironmentFile, _ arguments: Arguments) -> [[String]] {
    let flags = ServeCommand.options.compactMap { option -> [String]? in
      let values =
        option.kind == .flag
        ? [arguments.flag(option.name) ? "yes" : "no"] : arguments.list(option.name)
      guard !values.isEmpty else { return nil }
      return row(option.variable, values.map(shown).joined(separator: ";"), file, arguments)
    }
    let others = otherVariables.compactMap { variable -> [String]? in
      guard let value = arguments.environment[variable.name], !value.isEmpty else { return nil }
      return row(variable.name, variable.isSecret ? "(secret)" : value, file, arguments)
    }
    return [["VARIABLE", "VALUE", "FROM"]] + flags + others
  }

  private static func row(
    _ variable: String, _ value: String, _ file: EnvironmentFile, _ arguments: Arguments
  ) -> [String] {
    let isSet = arguments.environment[variable]?.isEmpty == false
    return [
      variable, value, isSet ? file.line(of: variable).map { "line \($0)" } ?? "-" : "default",
    ]
  }

  private static func shown(_ value: String) -> String {
    value.hasPrefix("token:") ? "token:(secret)" : ConnectionURL.hidingPassword(value)
  }

  // MARK: - The template

  /// A file with every variable, commented out, with its default or an empty value.
  private static var template: String {
    let flags = ServeCommand.options.map { option in
      let form =
        switch option.kind {
        case .flag: "yes or no"
        case .value: option.placeholder
        case .list: "\(option.placeholder);\(option.placeholder)…"
        }
      return entry(
        option.variable, option.kind == .flag ? "no" : option.defaultValue ?? "",
        "\(option.explanation) (\(form))")
    }
    let push = OriginConfiguration.pushVariables.map { entry($0.name, "", $0.explanation) }
    let objects = ObjectStoreSettings.variables.map { entry($0.name, "", $0.explanation) }
    let signIn = SignInSettings.variables.map { entry($0.name, "", $0.explanation) }
    return """
      # The configuration of the richpush server: the environment of the service. Remove the # in front
      # of a variable to set it; its present value is the default. It may have secrets, so others must
      # not be able to read it (chmod o=). Then:
      #   richpush config check
      #   systemctl restart richpush

      \(flags.joined(separator: "\n\n"))

      # Push services, see /usr/share/doc/richpush/PUSH.md

      \(push.joined(separator: "\n\n"))

      # The object store, see /usr/share/doc/richpush/SCALING.md

      \(objects.joined(separator: "\n\n"))

      # The provider of OpenID Connect, see /usr/share/doc/richpush/OPERATIONS.md

      \(signIn.joined(separator: "\n\n"))
      """
  }

  private static func entry(_ name: String, _ value: String, _ explanation: String) -> String {
    "# \(explanation)\n#\(name)=\(value)"
  }
}
