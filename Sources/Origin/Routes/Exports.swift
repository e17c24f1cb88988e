import HTTP
import Media
import Primitives
import RichPushAPI
import Store
import Synchronization

/// Tables that are sent as a whole, while they are read.
final class Exports: Sendable {
  private let store: Store
  private let log: Log
  private let permits = KeyedSemaphore<UserID>(width: UserQuota.exports)

  init(store: Store, log: Log) { (self.store, self.log) = (store, log) }

  /// Whether a request asks for a table.
  func isAsked(for context: RequestContext) -> Bool { Self.format(for: context) != nil }

  private static func format(for context: RequestContext) -> ExportFormat? {
    ExportFormat.allCases.first { context.accepts($0.rawValue) }
  }

  /// A page or, if one of the formats of exports was asked for, all pages as a table, in a file of this name.
  ///
  /// `read` reads at most `limit` rows at a position, which the page before has as `next`; a table is read by
  /// `largest` rows.
  ///
  /// - Throws: `tooManyRequests` if the caller's other exports are not at their ends.
  func response<Page: ExportedPage>(
    _ context: RequestContext, named name: String, at position: Int? = nil, limit: Int = 0,
    largest: Int = 0, _ read: @escaping @Sendable (_ at: Int?, _ limit: Int) async throws -> Page
  ) async throws -> Response {
    guard let format = Self.format(for: context) else {
      return .json(200, try await read(position, limit))
    }
    let caller = context.caller
    guard let permit = permits.tryPermit(caller.id) else {
      throw ServiceError(underWay: "exports", UserQuota.exports)
    }
    let export = Export<Page.Row>(as: format, permit: permit) { [store] next in
      guard try await store.isCurrent(caller) else { throw ServiceError.callerChanged }
      let page = try await read(next ?? position, largest)
      return (page.rows, page.next)
    } failed: { [log, request = context.request.id] error in
      log(.warning, "export", "\(name) ended early: \(error.logDescription)", request: request)
    }
    let ending = format == .csv ? "csv" : "jsonl"
    return Response(
      200, fields: ["Content-Disposition": "attachment; filename=\"\(name).\(ending)\""],
      body: .events(export))
  }
}

/// One table on its way to a client; the next page is read when the client has received the one before.
private final class Export<Row: ExportRow>: EventSource {
  typealias Page = @Sendable (_ after: Int?) async throws -> (rows: [Row], next: Int?)

  private enum Position {
    case beginning
    case after(Int)
    case end
  }

  private struct State {
    var sink: EventSink?
    var position = Position.beginning
    /// What was read and is not sent.
    var unsent: ArraySlice<UInt8>
    var isReading = false
  }

  private enum Step {
    case send(EventSink, [UInt8])
    case read(after: Int?)
    case close(EventSink)
    case wait
  }

  let form: StreamForm
  private let format: ExportFormat
  private let permit: KeyedSemaphore<UserID>.Permit
  private let page: Page
  private let failed: @Sendable (any Error) -> Void
  private let state: Mutex<State>
  /// Less than may wait for a slow client.
  private static var piece: Int { 64 << 10 }

  init(
    as format: ExportFormat, permit: KeyedSemaphore<UserID>.Permit, page: @escaping Page,
    failed: @escaping @Sendable (any Error) -> Void
  ) {
    (self.format, self.permit, self.page, self.failed) = (format, permit, page, failed)
    form = StreamForm(mediaType: format.rawValue + "; charset=utf-8", isEndless: false) { [] }
    state = Mutex(State(unsent: format.head(of: Row.self)[...]))
  }

  func open(_ sink: EventSink) {
    state.withLock { $0.sink = sink }
    sink.onClose { [permit] in permit.end() }
    sink.onDrain { self.advance() }
    advance()
  }

  private func advance() {
    switch nextStep() {
    case .send(let sink, let bytes): sink.send(bytes)
    case .close(let sink): sink.close()
    case .read(let after): Task { await read(after: after) }
    case .wait: break
    }
  }

  private func nextStep() -> Step {
    state.withLock { state in
      guard let sink = state.sink, !state.isReading else { return .wait }
      if !state.unsent.isEmpty {
        let piece = Array(state.unsent.prefix(Self.piece))
        state.unsent = state.unsent.dropFirst(piece.count)
        return .send(sink, piece)
      }
      state.isReading = true
      switch state.position {
      case .beginning: return .read(after: nil)
      case .after(let number): return .read(after: number)
      case .end: return .close(sink)
      }
    }
  }

  private func read(after number: Int?) async {
    do {
      let (rows, next) = try await page(number)
      let lines = rows.flatMap { format.line($0) }
      state.withLock { state in
        state.unsent = lines[...]
        state.position = next.map { .after($0) } ?? .end
        state.isReading = false
      }
      advance()
    } catch {
      failed(error)
      state.withLock { $0.sink }?.fail()
    }
  }
}
