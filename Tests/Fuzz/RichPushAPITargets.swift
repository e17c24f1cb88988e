// Compiled into the module RichPushAPI by api.sh, for libFuzzer.
import FoundationEssentials

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "json": { bytes in
    guard let value = JSON(bytes) else { return }
    precondition(JSON(value.bytes) == value, "written and read again it differs")
  },
  "members": { bytes in
    guard var members = try? JSONMembers(bytes, known: nil, ignoringCase: bytes.count % 2 == 0)
    else { return }
    for name in ["to", "tags", "message", "payload", "at"] {
      _ = try? members.string(name)
      _ = try? members.strings(name)
      _ = try? members.bool(name)
    }
    _ = try? JSONMembers(bytes, known: ["to", "message"])
  },
]
