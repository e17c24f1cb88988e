import Origin
import Primitives

/// The variables of the server that have a secret themselves, instead of the name of a file with it.
struct EnvironmentSecrets {
  /// The names of the variables, in order.
  let names: [String]

  /// Finds them in an environment.
  init(in environment: [String: String]) {
    let secret =
      (OriginConfiguration.pushVariables + ObjectStoreSettings.variables
      + SignInSettings.variables)
      .filter(\.isSecret).map(\.name)
    names = environment.filter { name, value in
      switch name {
      case Option.database.variable: ConnectionURL.hasPassword(value)
      case Option.variable(of: "metrics-allow"): value.contains("token:")
      default: secret.contains(name) && !value.isEmpty
      }
    }.keys.sorted()
  }

  /// Says that every user of the machine can read the secrets in a file; nil if that is not so.
  func warning(of path: String) -> String? {
    guard !names.isEmpty, ExposedFiles.contain(path) else { return nil }
    return "every user of this machine can read \(names.joined(separator: ", ")) in \(path): "
      + "chmod o= \(path)"
  }
}
