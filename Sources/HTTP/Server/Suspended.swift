import CMicroHTTPD
import Synchronization

/// A connection that waits for its answer, off the HTTP thread.
final class Suspended: Sendable {
  private enum State {
    case waiting(Task<Void, Never>?)
    case answered(Response)
  }

  /// A suspended connection stays as it is until it is resumed, which happens once.
  private nonisolated(unsafe) let handle: OpaquePointer
  private let state = Mutex(State.waiting(nil))

  /// Suspends the connection (MHD_suspend_connection).
  init(_ handle: OpaquePointer) {
    self.handle = handle
    MHD_suspend_connection(handle)
  }

  /// Starts the work whose result is the answer.
  func start(_ work: @escaping @Sendable () async -> Response) {
    let task = Task { settle(await work()) }
    state.withLock { if case .waiting = $0 { $0 = .waiting(task) } }
  }

  /// Gives the answer and resumes the connection; whoever comes second is not heard.
  func settle(_ response: Response) {
    let work: Task<Void, Never>?? = state.withLock {
      guard case .waiting(let task) = $0 else { return nil }
      $0 = .answered(response)
      return .some(task)
    }
    guard let work else { return }
    MHD_resume_connection(handle)
    work?.cancel()
  }

  /// The answer, once there is one.
  var answer: Response? {
    state.withLock {
      guard case .answered(let response) = $0 else { return nil }
      return response
    }
  }
}
