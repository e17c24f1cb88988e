import PluginHost
package import RichPushAPI
import Store

extension ServiceError {
  /// Maps an error of a lower module.
  package init(any error: any Error) {
    switch error {
    case let error as ServiceError: self = error
    case let error as PluginError: self.init(error)
    case let error as StoreError: self.init(error)
    default: self.init(.internalError, "Internal error; the server's log has the reason.")
    }
  }

  private init(_ error: StoreError) {
    switch error.code {
    case .conflict: self.init(.conflict, error.reason)
    case .exhausted: self.init(.tooManyRequests, error.reason, retryAfter: error.retryAfter)
    case .tooLarge: self.init(.tooLarge, error.reason)
    case .full: self.init(.diskFull, error.reason, retryAfter: error.retryAfter ?? 30)
    // The log has the reason, which names hosts.
    case .away:
      self.init(.unavailable, "The server's object store is away; try again.", retryAfter: 5)
    case .changed, .missing, .busy, .unavailable:
      self.init(.unavailable, error.reason, retryAfter: 1)
    default: self.init(.unavailable, error.reason, retryAfter: 30)
    }
  }

  private init(_ error: PluginError) {
    let code: Code =
      switch error.code {
      case .noSuchPlugin, .unsupportedVerb, .notFound: .notFound
      case .gone: .gone
      case .contentTooLarge: .tooLarge
      case .unsupportedMediaType: .unsupportedType
      case .invalidContent: .rejected
      case .unavailableForLegalReasons: .legallyUnavailable
      case .failed: .pluginFailed
      case .busy: .busy
      case .timedOut: .pluginTimedOut
      }
    self.init(code, error.reason, retryAfter: error.retryAfter)
  }

  /// Runs `body`; an error of a lower module becomes a `ServiceError`.
  package static func mapping<R>(_ body: () throws -> R) throws(ServiceError) -> R {
    do { return try body() } catch { throw ServiceError(any: error) }
  }

  /// Runs `body`; an error of a lower module becomes a `ServiceError`.
  package static func mapping<R>(_ body: () async throws -> R) async throws(ServiceError) -> R {
    do { return try await body() } catch { throw ServiceError(any: error) }
  }
}
