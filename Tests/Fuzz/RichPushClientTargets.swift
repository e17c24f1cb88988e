// Compiled into the module RichPushClient by client.sh, for libFuzzer.

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "events": { bytes in
    var (whole, pieces) = (EventStreamParser(), EventStreamParser())
    let all = try? whole.read(bytes)
    let parts = try? bytes.map { try pieces.read(CollectionOfOne($0)) }
    precondition(all == parts.map { Array($0.joined()) }, "the events depend on the pieces")
    precondition(whole.lastEventID == pieces.lastEventID)
  }
]
