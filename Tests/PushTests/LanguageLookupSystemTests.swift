import RichPushAPI
import Testing

/// The choice of a language, beside that of Babel.
@Suite(.timeLimit(.minutes(2))) struct LanguageLookupSystemTests {
  @Test func `Babel chooses the same in random cases`() throws {
    try #require(PythonTool.isInstalled, "make tools installs Babel")
    var random = SystemRandomNumberGenerator()
    // Of two parts at most: of more, Babel tries the first part only.
    let languages = ["de", "en", "fr", "pt", "zh", "gsw"].flatMap { language in
      [language] + ["CH", "DE", "BR", "Hant"].map { "\(language)-\($0)" }
    }
    func some(_ most: Int) -> [String] {
      Array(languages.shuffled(using: &random).prefix(Int.random(in: 0...most, using: &random)))
    }
    let cases = (0..<1000).map { _ in (preferred: some(4), available: some(8)) }
    let lines = cases.map { JSONCoding.text([$0.preferred, $0.available]) + "\n" }.joined()
    let chosen = try PythonTool.run("babel_lookup.py", input: lines)
    #expect(chosen.count == cases.count)
    for (one, line) in zip(cases, chosen) {
      let found = LanguageTag.lookup(one.preferred, among: one.available)
      // Babel answers in the spelling of the request.
      #expect((found.map { "\"\($0)\"" } ?? "null").lowercased() == line.lowercased(), "\(one)")
    }
  }
}
