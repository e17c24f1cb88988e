import PluginHost

extension Check {
  /// One call beside others.
  static let together = [
    Check(
      "keeps calls that come together apart",
      why: "Phones ask all at once, a second after a push.",
      mend: "Write below TMPDIR only, and keep nothing of one call where another finds it.",
      each: { bench, _, sample in
        let alone = await bench.ask(sample.call())
        guard alone.reply?.isStorable == true else { return nil }
        let others = await withTaskGroup { group in
          for _ in 0..<8 { group.addTask { await bench.ask(sample.call()) } }
          return await group.reduce(into: []) { $0.append($1) }
        }
        let odd = others.first { !$0.equals(alone) }
        return odd.map { $0.reply == nil ? $0.cause : "an answer is another than alone" }
      }),
    Check(
      "is well after a call that was called off",
      why: "Phones go away in the middle, and the call is ended with them.",
      mend: "Leave no lock or half file behind that the next call trips over."
    ) { bench, _, samples in
      guard let sample = samples.first else { return .doesNotApply("there is no sample") }
      let whole = await bench.ask(sample.call()).exchanges.last?.duration ?? .zero
      let call = Task { await bench.ask(sample.call()) }
      try? await Task.sleep(for: whole / 2)
      call.cancel()
      _ = await call.value
      let next = await bench.ask(sample.call())
      return next.reply == nil ? .fails(next.cause) : .holds()
    },
    Check(
      "answers with a user or without one",
      why: "With perUser the caller is in REMOTE_USER; while a file is checked there is nobody.",
      mend: "Do not take REMOTE_USER for granted.",
      survives: { _, _, samples in
        samples.map { sample in
          var call = sample.call()
          call.user = nil
          return call
        }
      }
    ).only({ $0.perUser }, otherwise: "it is not perUser"),
    Check(
      "stays for the next request",
      why: "A worker that ends after each answer costs more than a plugin that is not resident.",
      mend: "Accept in a loop, close only the connection, and do not exit after an answer."
    ) { bench, _, samples in
      guard let sample = samples.first else { return .doesNotApply("there is no sample") }
      for _ in 0..<20 {
        let trial = await bench.ask(sample.call())
        if trial.reply == nil { return .fails(trial.cause) }
      }
      try? await Task.sleep(for: .milliseconds(100))  // one that ends needs a moment
      return bench.processes.idle > 0 ? .holds() : .fails("no worker is left after 20 requests")
    }.only(
      { $0.mode == .fastcgi && $0.verbs.contains(.render) },
      otherwise: "it is not resident, or does not render"),
  ]
}
