import Foundation
import Testing

/// Rules that the formatter and the compiler do not check.
@Suite struct CodeRuleTests {
  @Test func `uses no name without a meaning, such as Helper`() throws {
    let empty = "Util|Helper|Manager|Common|Misc"
    let name = try Pattern(empty)
    let declaration = try Pattern(
      #"\b(?:struct|class|enum|protocol|actor|typealias|func) +(\w*(?:\#(empty))\w*)"#)
    for file in Repository.swift {
      #expect(name.matches(in: file.path).isEmpty, "\(file.path)")
      let names = declaration.matches(in: file.text)
      #expect(names.isEmpty, "\(file.path)")
    }
  }

  /// One comment may stand above several declarations that no empty line parts; a plain initialiser
  /// needs none, what a protocol asks for is documented there, and every error has a code and a reason.
  @Test func `says of every package and public declaration what a caller needs`() throws {
    let declaration = try Pattern(
      #"^\s*(?:package|public) (?!import)(?:[\w()]+ )*"#
        + #"(?:struct|class|enum|protocol|func|var|let|subscript|typealias) (\w+|==)"#)
    let attribute = try Pattern(#"^\s*@\w+(?:\(.*\))?$"#)
    let files = Repository.files(in: "Sources", "plugins", endingIn: ".swift")
    let requirements = try Set(files.flatMap { try namesAskedFor(in: $0.text) })
      .union(["description", "errorDescription", "hash", "==", "encode", "code", "reason"])
    for file in files {
      var isDocumented = false
      for line in file.lines where !attribute.matches(line) {
        guard let name = declaration.matches(in: String(line)).first else {
          isDocumented = line.contains("///")
          continue
        }
        #expect(isDocumented || requirements.contains(name), "\(file.path): \(line)")
      }
    }
  }

  /// Logs and terminals show errors, and a value without a description shows its members.
  @Test func `gives every error a description in words`() throws {
    let error = try Pattern(#"\b(?:struct|enum|class) (\w+): (?:\w+, )*Error\b"#)
    let described = try Pattern(#"extension (\w+): [^{]*CustomStringConvertible"#)
    let files = Repository.files(in: "Sources", "plugins", endingIn: ".swift")
    for file in files {
      let extended = described.matches(in: file.text)
      for name in error.matches(in: file.text) where !extended.contains(name) {
        #expect(
          try !Pattern(#"\b\#(name): [^{]*CustomStringConvertible"#).matches(in: file.text)
            .isEmpty,
          "\(file.path): \(name)")
      }
    }
  }

  /// Each line of the log begins with its area anyway.
  @Test func `begins no text of the log with its area`() throws {
    let entry = try Pattern(#"\blog\(\s*[^"()]*,\s*"([a-z-]+)",\s*"(?:""\s*)?\1\b(?! [a-z])"#)
    for file in Repository.files(in: "Sources", endingIn: ".swift") {
      #expect(entry.matches(in: file.text).isEmpty, "\(file.path)")
    }
  }

  /// It crashes at certain numbers of open descriptors, and tests open thousands; they have `StartedProgram`.
  @Test func `starts no program of a test through Foundation`() throws {
    let start = try Pattern(#"\bProcess(?:\.run)?\("#)
    for file in Repository.files(in: "Tests", endingIn: ".swift") {
      #expect(start.matches(in: file.code).isEmpty, "\(file.path)")
    }
  }

  @Test func `leaves the language's safety only where the reason is written`() throws {
    let risk = try Pattern(#"@unchecked|nonisolated\(unsafe\)"#)
    let force = try Pattern(#"\btry!|\bas!"#)
    for file in Repository.files(in: "Sources", "plugins", endingIn: ".swift") {
      #expect(force.matches(in: file.text).isEmpty, "\(file.path)")
      guard !risk.matches(in: file.text).isEmpty else { continue }
      let lines = file.lines
      for (index, line) in lines.enumerated() where risk.matches(line) {
        let nearby = lines[max(0, index - 4)...index].joined(separator: "\n")
        #expect(nearby.contains("//"), "\(file.path):\(index + 1) gives no reason")
      }
    }
  }

  /// A mapped file that is truncated, or whose disk fails, ends its reader (SIGBUS): a plugin may end, the server not.
  @Test func `maps files into memory in plugins and in the client only`() throws {
    let mapping = try Pattern(#"(\bmmap\(|alwaysMapped|mappedIfSafe)"#)
    let allowed = ["Sources/Imaging/", "Sources/img-decode/", "Sources/RichPushClient/"]
    for file in Repository.files(in: "Sources", endingIn: ".swift", ".c", ".h")
    where !allowed.contains(where: file.path.hasPrefix) {
      #expect(mapping.matches(in: file.text).isEmpty, "\(file.path)")
    }
  }

  @Test func `hands memory to C in few places`() {
    let allowed = [
      "Sources/HTTP/", "Sources/OpenID/", "Sources/Push/", "Sources/S3/", "Sources/Store/",
      "Sources/PluginHost/", "Sources/Primitives/", "Sources/RichPushClient/", "plugins/url/",
    ]
    for file in Repository.files(in: "Sources", "plugins", endingIn: ".swift")
    where file.text.contains("Unmanaged") {
      #expect(allowed.contains { file.path.hasPrefix($0) }, "\(file.path)")
    }
  }

  @Test func `tells in every test's name what holds`() throws {
    let test = try Pattern(#"@Test\b[^{}]*?\bfunc (\S+)"#)
    for file in Repository.files(in: "Tests", endingIn: "Tests.swift") {
      let silent = test.matches(in: file.text).filter { !$0.hasPrefix("`") }
      #expect(silent.isEmpty, "\(file.path)")
    }
  }

  @Test func `has only the expected files at its root`() throws {
    let expected: Set = [
      "LICENSE", "Makefile", "Package.swift", "README.md", "Sources", "Tests", "assets", "docs",
      "packaging",
      "plugins", "Package.resolved", "var", "var-cluster", "received",
    ]
    let present = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path)
      .filter { !$0.hasPrefix(".") }
    #expect(Set(present).subtracting(expected).isEmpty)
  }

  /// The names that the protocols of a file ask for.
  private func namesAskedFor(in text: String) throws -> [String] {
    try Pattern(#"protocol \w+[^{]*\{([\s\S]*?)\n\}"#).matches(in: text).flatMap { body in
      try Pattern(#"(?:var|func|typealias|associatedtype) (\w+)"#).matches(in: body)
    }
  }
}
