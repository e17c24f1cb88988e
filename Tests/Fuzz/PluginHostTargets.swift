// Compiled into the module PluginHost by plugins.sh, for libFuzzer.
import Primitives

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "records": { bytes in
    guard let header = FastCGIRecord.Header(bytes.prefix(FastCGIRecord.Header.size)) else { return }
    precondition(header.contentLength <= 0xFFFF && header.paddingLength <= 0xFF)
    let content = bytes.dropFirst(FastCGIRecord.Header.size)
    guard let pairs = FastCGIRecord.decodePairs(Array(content)) else { return }
    let encoded = FastCGIRecord.encode(pairs.map { ($0.key, $0.value) })
    precondition(FastCGIRecord.decodePairs(encoded) == pairs)
  },
  "heads": { bytes in
    var (whole, pieces) = (CGIResponseBuffer(limit: 1 << 16, folder: ""), CGIResponseBuffer.none)
    pieces = CGIResponseBuffer(limit: 1 << 16, folder: "")
    let isWhole = (try? bytes.withUnsafeBytes { try whole.append($0) }) != nil
    var isPieced = true
    for byte in bytes where isPieced {
      isPieced = (try? [byte].withUnsafeBytes { try pieces.append($0) }) != nil
    }
    precondition(isWhole == isPieced && whole.head == pieces.head, "the head depends on the pieces")
    precondition(whole.body.bytes == pieces.body.bytes || !isWhole)
    guard whole.isHeadComplete, let head = try? CGIResponseHead(whole.head) else { return }
    precondition((100...599).contains(head.status))
    precondition(head.fields.allSatisfy { !$0.value.contains { $0.isNewline && $0.isASCII } })
  },
  "manifest": { bytes in
    let maximum = Manifest.Limits(seconds: 60, memoryMiB: 1024, outputMiB: 100)
    guard let manifest = try? Manifest(json: bytes, name: "card", maximum: maximum) else { return }
    precondition((1...60).contains(manifest.limits.seconds), "\(manifest.limits)")
    precondition((1...1024).contains(manifest.limits.memoryMiB), "\(manifest.limits)")
    precondition((1...100).contains(manifest.limits.outputMiB), "\(manifest.limits)")
    precondition(manifest.executable?.contains("/") != true)
  },
]
