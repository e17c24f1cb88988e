// Compiled into the module Push by push.sh, for libFuzzer.

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "tags": { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    guard let expression = try? TagExpression(text) else { return }
    let again = try? TagExpression(expression.description)
    precondition(again?.description == expression.description, "\(expression)")
    _ = try? TagPlan(expression)
  }
]
