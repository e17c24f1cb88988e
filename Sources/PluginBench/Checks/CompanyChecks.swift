import PluginHost

extension Check {
  /// One call beside others.
  static let together = [
    Check(
      "keeps calls that come together apart",
      why: "Phones ask all at once, a second after a push.",
      mend: "Write below TMPDIR only, and keep nothing of one call where another finds it."
    ) { bench, _, samples in
      await each(samples) { sample in
        let alone = await bench.ask(sample.call())
        guard alone.reply?.isStorable == true else { return nil }
        let others = await withTaskGroup { group in
          for _ in 0..<8 { group.addTask { await bench.ask(sample.call()) } }
          return await group.reduce(into: []) { $0.append($1) }
        }
        let odd = others.first { !$0.equals(alone) }
        return odd.map { $0.reply == nil ? $0.cause : "an answer is another than alone" }
      }
    },
    Check(
      "is well after a call that was called off",
      why: "Phones go away in the middle, and the call is ended with them.",
      mend: "Leave no lock or half file behind that the next call trips over."
    ) { bench, _, samples in
      await each(Array(samples.prefix(1))) { sample in
        let call = Task { await bench.ask(sample.call()) }
        call.cancel()
        _ = await call.value
        let next = await bench.ask(sample.call())
        return next.reply == nil ? next.cause : nil
      }
    },
    Check(
      "answers with a user or without one",
      why: "With perUser the caller is in REMOTE_USER; while a file is checked there is nobody.",
      mend: "Do not take REMOTE_USER for granted."
    ) { bench, plugin, samples in
      guard plugin.manifest.perUser else { return .doesNotApply("it is not perUser") }
      return await each(samples) { sample in
        var call = sample.call()
        call.user = nil
        return disorder(await bench.ask(call))
      }
    },
    Check(
      "stays for the next request",
      why: "A worker that ends after each answer costs more than a plugin that is not resident.",
      mend: "Accept in a loop, close only the connection, and do not exit after an answer."
    ) { bench, plugin, samples in
      guard plugin.manifest.mode == .fastcgi else { return .doesNotApply("it is not resident") }
      guard plugin.manifest.verbs.contains(.render) else {
        return .doesNotApply("it does not render")
      }
      return await each(Array(samples.prefix(1))) { sample in
        for _ in 0..<20 {
          let trial = await bench.ask(sample.call())
          if trial.reply == nil { return trial.cause }
        }
        return bench.processes.idle > 0 ? nil : "no worker is left after 20 requests"
      }
    },
  ]
}
