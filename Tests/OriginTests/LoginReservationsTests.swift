import Primitives
import Testing

@testable import Origin

/// Which moment each of many logins is told, in a time that the tests make.
@Suite struct LoginReservationsTests {
  private let start = ContinuousClock.now
  private static let interval = Duration.milliseconds(12)

  /// A login's turn, reserved if it is not now.
  private func turn(
    _ name: Int, of reservations: LoginReservations, after time: Duration,
    isKnown: Bool = true, isSuspect: Bool = false
  ) -> LoginReservations.Turn {
    let login = reservations.login("\(name)", from: "::1")
    let turn = reservations.turn(
      of: login, isSuspect: isSuspect, every: Self.interval, at: start + time)
    guard case .distant = turn else { return turn }
    return reservations.reserve(
      login, isTrusted: isKnown && !isSuspect, isSuspect: isSuspect, every: Self.interval,
      at: start + time)
  }

  /// Comes back after a whole number of seconds, as `Retry-After` says; the time until then.
  private func comeBack(_ turn: LoginReservations.Turn) throws -> Duration {
    guard case .reserved(let wait) = turn else { throw Unexpected(turn: turn) }
    return .seconds((wait / .seconds(1)).rounded(.up))
  }

  private struct Unexpected: Error {
    let turn: LoginReservations.Turn
  }

  @Test func `a herd comes at most twice, and is in within 1.3 times the ideal time`() throws {
    let (reservations, count) = (LoginReservations(), 16_000)
    var arrivals: [(name: Int, time: Duration)] = []
    var held = 0
    for name in 0..<count {
      let turn = turn(name, of: reservations, after: .zero)
      if turn == .now { held += 1 } else { arrivals.append((name, try comeBack(turn))) }
    }
    #expect(held == 417, "5 s of work wait at once")
    // Whoever comes at its moment finds a short queue.
    var free = Self.interval * held
    for (name, time) in arrivals {
      #expect(turn(name, of: reservations, after: time) == .now)
      free = max(free, time) + Self.interval
      #expect(free - time < .seconds(3))
      reservations.end(reservations.login("\(name)", from: "::1"))
    }
    #expect(free < Self.interval * count * 1.3)
  }

  @Test func `who comes early is told the rest, and who comes late begins again`() throws {
    let reservations = LoginReservations()
    for name in 0..<1000 { _ = turn(name, of: reservations, after: .zero) }
    let moment = try comeBack(turn(999, of: reservations, after: .zero))
    #expect(moment == .seconds(12))
    #expect(try comeBack(turn(999, of: reservations, after: .seconds(4))) == .seconds(8))
    #expect(turn(999, of: reservations, after: .seconds(13)) == .now)
    // The others did not come: their reservations lapse, and the next is in at once.
    #expect(turn(2000, of: reservations, after: .seconds(100)) == .now)
    #expect(reservations.count == 419, "one in, 417 that still wait, and the next")
  }

  @Test func `many requests of one phone have one turn`() {
    let reservations = LoginReservations()
    for _ in 0..<5000 { #expect(turn(1, of: reservations, after: .zero) == .now) }
    #expect(turn(2, of: reservations, after: .zero) == .now)
    #expect(reservations.count == 2)
  }

  @Test(arguments: [(false, false), (true, true)])
  func `unknown names and suspects leave half of the places to users`(
    isKnown: Bool, isSuspect: Bool
  ) throws {
    let reservations = LoginReservations(capacity: 2000)
    for name in 0..<5000 {
      _ = turn(name, of: reservations, after: .zero, isKnown: isKnown, isSuspect: isSuspect)
    }
    // 417 of them wait at once and have no reservation.
    #expect(reservations.count == 1417)
    guard case .distant = turn(6000, of: reservations, after: .zero, isKnown: false) else {
      guard isSuspect else { throw Unexpected(turn: .now) }
      return
    }
    guard case .reserved = turn(6001, of: reservations, after: .zero) else {
      throw Unexpected(turn: .now)
    }
  }

  @Test func `suspects do not delay others`() {
    let reservations = LoginReservations()
    for name in 0..<5000 { _ = turn(name, of: reservations, after: .zero, isSuspect: true) }
    #expect(turn(6000, of: reservations, after: .zero) == .now)
  }
}
