import PluginHost

extension Check {
  /// Several calls of one plugin, at once or in a row.
  static let concurrency = [
    Check(
      "keeps concurrent calls apart",
      why: "Phones call all at once, a second after a push.",
      fix: "Write below TMPDIR only, and keep nothing of one call where another finds it.",
      each: { tester, sample in
        let alone = await tester.run(sample.call())
        guard alone.reply?.isStorable == true else { return nil }
        let others = await withTaskGroup { group in
          for _ in 0..<8 { group.addTask { await tester.run(sample.call()) } }
          return await group.reduce(into: []) { $0.append($1) }
        }
        let odd = others.first { !$0.equals(alone) }
        return odd.map { $0.reply == nil ? $0.cause : "a response differs from that to one call" }
      }),
    Check(
      "still works after a cancelled call",
      why: "Phones disconnect at any time, and the call is killed.",
      fix: "Leave no lock or incomplete file that makes the next call fail."
    ) { tester, _, samples in
      guard let sample = samples.first else { return .noSample }
      let duration = await tester.run(sample.call()).exchanges.last?.duration ?? .zero
      // A call that was answered before it was cancelled says nothing: on a busy machine the first takes longer.
      for pause in [duration / 2, duration / 8, duration / 32] {
        let call = Task { await tester.run(sample.call()) }
        try? await Task.sleep(for: pause)
        call.cancel()
        if await call.value.reply == nil { break }
      }
      let next = await tester.run(sample.call())
      return next.reply == nil ? .fails(next.cause) : .passes()
    },
    Check(
      "answers with and without a user",
      why: "With perUser the caller is in REMOTE_USER; while a file is checked there is none.",
      fix: "Do not rely on REMOTE_USER being set.",
      survives: { _, _, samples in
        samples.map { sample in
          var call = sample.call()
          call.user = nil
          return call
        }
      }
    ).only(if: { $0.perUser }, otherwise: "it is not perUser"),
    Check(
      "keeps its worker for the next request",
      why: "A worker that exits after each response costs more than a plugin that is not resident.",
      fix: "Accept in a loop, close only the connection, and do not exit after a response."
    ) { tester, _, samples in
      guard let sample = samples.first else { return .noSample }
      for _ in 0..<20 {
        let result = await tester.run(sample.call())
        if result.reply == nil { return .fails(result.cause) }
      }
      // The host learns of an exit a moment after the response.
      try? await Task.sleep(for: .milliseconds(500))
      return tester.processes.idle > 0 ? .passes() : .fails("no worker is left after 20 requests")
    }.only(
      if: { $0.mode == .fastcgi && $0.verbs.contains(.render) },
      otherwise: "it is not resident, or does not render"),
  ]
}
