import PluginTester

/// `richpush plugin check`: a report in the form of TAP, and exit code 1 when a check fails.
struct PluginCheck {
  private let tester: PluginTester
  private let samples: [Sample]

  init(_ path: String, _ arguments: Arguments) throws {
    let level = try arguments.sandbox()
    do {
      tester = try PluginTester(path, programs: Programs.folder, sandbox: level)
    } catch { throw CommandLineError.failed(error.reason) }
    let given = try arguments.samples()
    samples =
      try given.isEmpty
      ? Sample.all(
        ofPlugin: tester.path, assets: arguments.required("assets") + "/" + tester.name) : given
  }

  func show() async throws {
    Terminal.say("1..\(Check.all.count)")
    var failed = 0
    for (index, check) in Check.all.enumerated() {
      let line = "\(index + 1) - \(check.name)"
      switch await check.finding(tester, samples) {
      case .passes(let note): Terminal.say("ok \(line)" + (note.isEmpty ? "" : " (\(note))"))
      case .doesNotApply(let reason): Terminal.say("ok \(line) # SKIP \(reason)")
      case .fails(let fault):
        failed += 1
        Terminal.say("not ok \(line)")
        Terminal.say("  found: \(fault)\n  why:   \(check.why)\n  fix:   \(check.fix)")
      }
    }
    if failed > 0 {
      throw CommandLineError.failed("\(failed) of \(Check.all.count) checks failed")
    }
  }
}
