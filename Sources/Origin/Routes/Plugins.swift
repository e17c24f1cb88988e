import HTTP
import PluginHost
import Store

/// `GET /api/plugins`: how each plugin fares, for admins.
struct Plugins: Sendable {
  let host: PluginHost

  func list(_ exchange: Exchange) async throws -> Response {
    let sandbox = try host.sandboxReport()
    return .json(
      200,
      JSONValue.object([
        "plugins": .array(
          try host.status().map { $0.json(confinement: try host.confinement(of: $0.plugin)) }),
        "sandbox": .object([
          "level": .string(sandbox.level.rawValue),
          "gaps": .array(try host.gaps().map { .string($0) }),
        ]),
      ]))
  }
}

extension PluginStatus {
  fileprivate func json(confinement: String) -> JSONValue {
    .object([
      "richType": .string(plugin.richType), "version": .string(plugin.manifest.version),
      "mode": .string(plugin.manifest.mode.rawValue),
      "verbs": .array(plugin.manifest.verbs.map(\.rawValue).sorted().map { .string($0) }),
      "state": .string(plugin.problem == nil ? "ready" : "broken"),
      "problem": .optional(plugin.problem),
      "confinement": .string(confinement),
      "processes": .object([
        "idle": .number(Double(processes.idle)), "busy": .number(Double(processes.busy)),
        "most": .number(Double(processes.most)),
      ]),
      "calls": .number(Double(calls.count)), "failures": .number(Double(calls.failures)),
      "lastFailure": .optional(calls.lastFailure),
      "medianSeconds": calls.median.map { .number($0 / .seconds(1)) } ?? .null,
      "slowestSeconds": calls.slowest.map { .number($0 / .seconds(1)) } ?? .null,
    ])
  }
}
