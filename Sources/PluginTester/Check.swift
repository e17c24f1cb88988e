import PluginHost

/// A check that every plugin must pass, why, and how to fix a failure.
package struct Check: Sendable {
  /// The result of a check.
  package enum Finding: Sendable {
    /// It passes; with a note, such as the number of calls.
    case passes(String = "")
    /// It fails; with what was found.
    case fails(String)
    /// The plugin does not have what the check is about; with the reason.
    case doesNotApply(String)
  }

  typealias Run = @Sendable (PluginTester, Plugin, [Sample]) async -> Finding

  /// What a good plugin does: the predicate of a sentence whose subject is the plugin.
  package let name: String
  /// What happens when the check fails.
  package let why: String
  /// How to fix a failure.
  package let fix: String
  private let run: Run

  init(_ name: String, why: String, fix: String, _ run: @escaping Run) {
    (self.name, self.why, self.fix, self.run) = (name, why, fix, run)
  }

  /// A check of each sample in turn, until `problem` returns a sentence.
  init(
    _ name: String, why: String, fix: String,
    each problem: @escaping @Sendable (PluginTester, Sample) async -> String?
  ) {
    self.init(name, why: why, fix: fix) { tester, _, samples in
      for sample in samples {
        if let problem = await problem(tester, sample) {
          return .fails("\(sample.name): \(problem)")
        }
      }
      return samples.isEmpty ? .noSample : .passes()
    }
  }

  /// A check of the response to each sample.
  init(
    _ name: String, why: String, fix: String,
    response problem: @escaping @Sendable (CallResult, Plugin?) -> String?
  ) {
    self.init(name, why: why, fix: fix) { tester, sample in
      problem(await tester.run(sample.call()), tester.plugin)
    }
  }

  /// A check that the plugin answers or refuses each call; it fails at the first that ends with 5xx.
  init(
    _ name: String, why: String, fix: String, otherwise reason: String = "there is no sample",
    survives calls: @escaping @Sendable (PluginTester, Plugin, [Sample]) -> [PluginCall]
  ) {
    self.init(name, why: why, fix: fix) { tester, plugin, samples in
      let calls = calls(tester, plugin, samples)
      for call in calls {
        let result = await tester.run(call)
        if !result.isOrderly { return .fails("\(call.subject): \(result.cause)") }
      }
      return calls.isEmpty ? .doesNotApply(reason) : .passes("\(calls.count)")
    }
  }

  /// The same check, limited to plugins whose manifest fulfils a condition.
  func only(
    if applies: @escaping @Sendable (Manifest) -> Bool, otherwise reason: String
  ) -> Check {
    Check(name, why: why, fix: fix) { [run] tester, plugin, samples in
      applies(plugin.manifest) ? await run(tester, plugin, samples) : .doesNotApply(reason)
    }
  }

  /// Runs the check.
  package func finding(_ tester: PluginTester, _ samples: [Sample]) async -> Finding {
    guard let plugin = tester.plugin else {
      return .fails("\(tester.path) is not a plugin: its name is no rich type, or it is empty")
    }
    return await run(tester, plugin, samples)
  }

  /// All checks, the simplest first.
  package static let all = files + form + responses + payloads + assets + concurrency
}

extension Check.Finding {
  /// The result of a check that needs a sample when there is none.
  static var noSample: Self { .doesNotApply("there is no sample") }
}

extension PluginCall {
  /// What the call is about, for a report.
  fileprivate var subject: String {
    let options = query.map { "\($0.name)=\($0.value.debugDescription)" }.joined(separator: " ")
    return options.isEmpty ? payload.prefix(40).debugDescription : options
  }
}
