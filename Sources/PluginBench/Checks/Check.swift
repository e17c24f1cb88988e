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

  init(_ name: String, why: String, mend: String, _ attempt: @escaping Trying) {
    (self.name, self.why, self.mend, self.attempt) = (name, why, mend, attempt)
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

extension Check {
  /// Asks about each sample in turn, and fails with the first that `fault` finds something wrong with.
  static func each(
    _ samples: [Sample], _ fault: (Sample) async -> String?
  ) async -> Finding {
    guard !samples.isEmpty else { return .doesNotApply("there is no sample") }
    for sample in samples {
      if let fault = await fault(sample) { return .fails("\(sample.name): \(fault)") }
    }
    return .holds()
  }

  /// What is wrong with a trial that a plugin may refuse but must not fail.
  static func disorder(_ trial: Trial) -> String? { trial.isOrderly ? nil : trial.cause }
}
