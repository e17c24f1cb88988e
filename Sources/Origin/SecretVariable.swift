import FoundationEssentials
import Media

/// Reads secrets of environment variables, and what they name.
enum SecretVariable {
  /// A secret from the variable itself, or from the file that `<name>_FILE` names; nil if neither is set.
  static func text(
    _ name: String, _ environment: [String: String]
  ) throws(OperatorError) -> String? {
    let file = name + "_FILE"
    switch (environment[name] ?? "", environment[file] ?? "") {
    case ("", ""): return nil
    case (let text, ""): return text
    case ("", let path):
      return String(
        try content(of: path, file).reversed().drop(while: \.isWhitespace).reversed())
    default: throw OperatorError("\(name) and \(file) are both set; only one may be")
    }
  }

  /// The path of a PEM file with certificates, which a variable has; nil if it is not set.
  static func authority(
    _ name: String, _ environment: [String: String]
  ) throws(OperatorError) -> String? {
    guard let path = environment[name], !path.isEmpty else { return nil }
    guard try content(of: path, name).contains("-BEGIN CERTIFICATE-") else {
      throw OperatorError("\(name) names \(path), which is not a PEM certificate")
    }
    return path
  }

  private static func content(
    of path: String, _ name: String
  ) throws(OperatorError) -> String {
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw OperatorError("\(name) names \(path), which can't be read")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
