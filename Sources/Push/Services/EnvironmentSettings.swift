import FoundationEssentials

/// Reads settings from the environment; errors name the variable.
package struct EnvironmentSettings {
  private let environment: [String: String]

  init(_ environment: [String: String]) { self.environment = environment }

  /// A variable's text; empty counts as missing.
  func optional(_ name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A required variable; `purpose` tells in the error what it is for.
  func required(_ name: String, _ purpose: String) throws(PushError) -> String {
    guard let text = optional(name) else {
      throw PushError(.configuration, "\(name) is not set: \(purpose).")
    }
    return text
  }

  /// A secret from the variable itself, or from the file that `<name>_FILE` names.
  func secret(_ name: String, _ purpose: String) throws(PushError) -> String {
    let fileName = name + "_FILE"
    switch (optional(name), optional(fileName)) {
    case (let text?, nil): return text
    case (nil, .some):
      let text = try file(fileName, purpose)
      return String(text.reversed().drop(while: \.isWhitespace).reversed())
    case (nil, nil):
      throw PushError(.configuration, "Neither \(name) nor \(fileName) is set: \(purpose).")
    case (.some, .some):
      throw PushError(.configuration, "\(name) and \(fileName) are both set; only one may be.")
    }
  }

  /// The text of the file that a variable names.
  func file(_ name: String, _ purpose: String) throws(PushError) -> String {
    let path = try required(name, purpose)
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw PushError(.configuration, "\(name) names \(path), which can't be read.")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Runs `body`; prefixes the reason of its error with the variable's name.
  func naming<Value>(
    _ name: String, _ body: @autoclosure () throws(PushError) -> Value
  ) throws(PushError) -> Value {
    do {
      return try body()
    } catch {
      throw PushError(error.code, "\(name): \(error.reason)")
    }
  }
}

extension EnvironmentSettings {
  /// The words of a comma-separated list, without white space.
  static func words(in list: String) -> [String] {
    list.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
  }
}
