import Foundation
import Testing

/// Plugins that attack the server and the machine, in every mode a server can have.
///
/// `docs/PLUGINS.md` has the table of what becomes of them. `RICHPUSH_ATTACKS=write` writes into it what
/// was measured here, `RICHPUSH_ATTACKS=tell` shows what the plugins were told.
@Suite(.serialized, .timeLimit(.minutes(30))) struct HostileMatrixSystemTests {
  @Test(arguments: HostileMode.all.filter { $0.impediment == nil })
  func `stops what the table says`(mode: HostileMode) async throws {
    var table = try AttackTable()
    var measured: [String: String] = [:]
    try await HostileGround.lend(mode) { ground in
      for attack in Attack.all {
        let begin = ContinuousClock.now
        let effects: [String]
        do {
          guard let seen = try await attack.effects(ground) else { continue }
          effects = seen
          try await ground.expectPluginsRun(after: attack.name)
        } catch {
          Issue.record("\(attack.name): \(error), \(ground.server.log.suffix(2000))")
          try await ground.server.restart(by: SIGKILL)
          continue
        }
        let cell = attack.cell(effects, in: mode)
        measured[attack.name] = cell
        if AttackTable.isTold {
          print("\(mode.title), \(attack.name): \(cell) \(effects) \(.now - begin)")
        }
        if AttackTable.isWritten { continue }
        let expected = table.cells[attack.name]?[mode.title]
        #expect(cell == expected, "\(attack.name): \(effects)")
      }
    }
    if AttackTable.isWritten { try table.write(measured, of: mode) }
  }
}
