import HTTP
import Store

/// `/healthz` and `/readyz`, which ask for no credentials.
struct Health: Sendable {
  let store: Store

  /// The answer when the request is for one of them.
  func answer(_ request: Request) -> Answer? {
    guard request.method == "GET" || request.method == "HEAD" else { return nil }
    switch request.segments {
    case ["healthz"]: return .now(Self.fine)
    case ["readyz"]:
      return .later(deadline: .seconds(5)) {
        do {
          _ = try store.latestPushEvent()
          return Self.fine
        } catch { return .problem(503, "The store does not answer: \(error)") }
      }
    default: return nil
    }
  }

  private static let fine = Response.text(200, "ok\n", fields: ["Cache-Control": "no-store"])
}
