import PluginHost

/// Something that every plugin must stand, and what to do when one does not.
package struct Check: Sendable {
  /// What was found.
  package enum Finding: Sendable {
    /// It holds; with a word about how.
    case holds(String = "")
    case fails(String)
    /// The plugin has nothing to which it could apply.
    case doesNotApply(String)
  }

  typealias Trying = @Sendable (PluginBench, Plugin, [Sample]) async -> Finding

  /// What holds, as the end of a sentence that begins with the plugin.
  package let name: String
  /// What happens to whom when it does not.
  package let why: String
  /// How to mend it.
  package let mend: String
  private let attempt: Trying

  /// Tries it; there is a plugin.
  init(_ name: String, why: String, mend: String, _ attempt: @escaping Trying) {
    (self.name, self.why, self.mend, self.attempt) = (name, why, mend, attempt)
  }

  /// Asks about each sample in turn until `fault` finds something wrong with one.
  init(
    _ name: String, why: String, mend: String,
    each fault: @escaping @Sendable (PluginBench, Plugin, Sample) async -> String?
  ) {
    self.init(name, why: why, mend: mend) { bench, plugin, samples in
      guard !samples.isEmpty else { return .doesNotApply("there is no sample") }
      for sample in samples {
        if let fault = await fault(bench, plugin, sample) {
          return .fails("\(sample.name): \(fault)")
        }
      }
      return .holds()
    }
  }

  /// Asks once about each sample; `fault` says what is wrong with what comes of it.
  init(
    _ name: String, why: String, mend: String,
    answer fault: @escaping @Sendable (Trial, Plugin) -> String?
  ) {
    self.init(
      name, why: why, mend: mend,
      each: { bench, plugin, sample in fault(await bench.ask(sample.call()), plugin) })
  }

  /// Asks what may be refused but must not fail.
  init(
    _ name: String, why: String, mend: String, otherwise reason: String = "there is no sample",
    survives calls: @escaping @Sendable (PluginBench, Plugin, [Sample]) -> [PluginCall]
  ) {
    self.init(name, why: why, mend: mend) { bench, plugin, samples in
      let calls = calls(bench, plugin, samples)
      for call in calls {
        let trial = await bench.ask(call)
        if !trial.isOrderly { return .fails("\(call.subject): \(trial.cause)") }
      }
      return calls.isEmpty ? .doesNotApply(reason) : .holds("\(calls.count)")
    }
  }

  /// The same check of a plugin that has what it is about; of another, `reason` says why not.
  func only(
    _ applies: @escaping @Sendable (Manifest) -> Bool, otherwise reason: String
  ) -> Check {
    Check(name, why: why, mend: mend) { [attempt] bench, plugin, samples in
      applies(plugin.manifest)
        ? await attempt(bench, plugin, samples) : .doesNotApply(reason)
    }
  }

  /// Tries it.
  package func finding(_ bench: PluginBench, _ samples: [Sample]) async -> Finding {
    guard let plugin = bench.plugin else {
      return .fails("\(bench.path) is no plugin: no rich type can have that name, or it is empty")
    }
    return await attempt(bench, plugin, samples)
  }

  /// All checks, the simplest first.
  package static let all = files + answers + payloads + assets + together
}

extension PluginCall {
  /// What it is about, for a report.
  fileprivate var subject: String {
    let options = query.map { "\($0.name)=\($0.value.debugDescription)" }.joined(separator: " ")
    return options.isEmpty ? payload.prefix(40).debugDescription : options
  }
}
