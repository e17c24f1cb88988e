import FoundationEssentials

/// Reads settings from the environment, with errors that name the variable.
struct Settings {
  private let environment: [String: String]

  init(_ environment: [String: String]) { self.environment = environment }

  /// A variable's text; empty counts as missing.
  func optional(_ name: String) -> String? {
    guard let text = environment[name], !text.isEmpty else { return nil }
    return text
  }

  /// A variable that has to be there; `purpose` says what it is for.
  func required(_ name: String, _ purpose: String) throws(PushError) -> String {
    guard let text = optional(name) else {
      throw PushError(.configuration, "\(name) is not set: \(purpose).")
    }
    return text
  }

  /// A secret that is in the variable itself, or in the file that `<name>_FILE` names.
  func secret(_ name: String, _ purpose: String) throws(PushError) -> String {
    let fileName = name + "_FILE"
    guard optional(fileName) != nil else {
      guard let text = optional(name) else {
        throw PushError(.configuration, "Neither \(name) nor \(fileName) is set: \(purpose).")
      }
      return text
    }
    guard optional(name) == nil else {
      throw PushError(.configuration, "\(name) and \(fileName) are both set; only one may be.")
    }
    let text = try file(fileName, purpose)
    return String(text.reversed().drop(while: \.isWhitespace).reversed())
  }

  /// The text of the file that a variable names.
  func file(_ name: String, _ purpose: String) throws(PushError) -> String {
    let path = try required(name, purpose)
    do {
      return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    } catch {
      throw PushError(
        .configuration, "\(name) names \(path), which can't be read.")
    }
  }

  /// Runs `body` and puts the variable's name before what it complains about.
  func naming<Value>(
    _ name: String, _ body: () throws(PushError) -> Value
  ) throws(PushError) -> Value {
    do {
      return try body()
    } catch {
      throw PushError(error.code, "\(name): \(error.reason)")
    }
  }
}
