/// A flag of a command, and with it the environment variable that stands for it.
struct Option: Sendable {
  /// How often a flag may be given, and whether a value follows it.
  enum Kind: Sendable {
    case flag
    case value
    case list
  }

  let name: String
  let kind: Kind
  let placeholder: String
  let explanation: String
  let standard: String?

  /// The variable that is read when the flag is not given: `RICHPUSH_MAX_AGE` for `--max-age`.
  var variable: String { Self.variable(of: name) }

  /// The variable of the flag with that name.
  static func variable(of name: String) -> String {
    "RICHPUSH_" + name.uppercased().replacing("-", with: "_")
  }

  /// A flag that is there or not, such as `--demo`.
  static func flag(_ name: String, _ explanation: String) -> Option {
    Option(name: name, kind: .flag, placeholder: "", explanation: explanation, standard: nil)
  }

  /// A flag with a value, such as `--user NAME`.
  static func value(
    _ name: String, _ placeholder: String, _ explanation: String, default standard: String? = nil
  ) -> Option {
    Option(
      name: name, kind: .value, placeholder: placeholder, explanation: explanation,
      standard: standard)
  }

  /// A flag that may be given several times; its variable separates the values with `;`.
  static func list(_ name: String, _ placeholder: String, _ explanation: String) -> Option {
    Option(
      name: name, kind: .list, placeholder: placeholder, explanation: explanation, standard: nil)
  }
}
