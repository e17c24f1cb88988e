// Compiled into the module RichPushAPI by api.sh, for libFuzzer.

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "json": { bytes in
    guard let value = JSONValue(bytes) else { return }
    precondition(
      JSONValue(JSONCoding.encode(value)) == value, "written and read again it differs")
  },
  "messages": { bytes in
    let new = try? JSONCoding.request(NewNotification.self, from: bytes)
    if let new {
      precondition(
        (try? JSONCoding.request(NewNotification.self, from: JSONCoding.encode(new))) == new,
        "written and read again it differs")
    }
    _ = try? JSONCoding.request(Amendment.self, from: bytes)
    _ = try? JSONCoding.request(Registration.self, from: bytes)
    _ = try? JSONCoding.decode(Registration.self, from: bytes)
  },
]
