// Compiled into the module MediaTypes by media.sh, for libFuzzer.

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "kinds": { bytes in
    _ = FileKind(bytes).refusal(accepting: ["image/*"])
    if let size = PixelSize.read(bytes) { precondition(size.width > 0 && size.height > 0) }
    if let type = MediaType(String(decoding: bytes, as: UTF8.self)) {
      precondition(MediaType(type.value) == type, "\(type)")
    }
  },
  "sounds": { bytes in
    guard let sound = try? Sound.read(bytes) else { return }
    if let duration = sound.duration { precondition(duration.isFinite && duration >= 0) }
    if let samples = sound.samples {
      precondition(samples.bytes.lowerBound >= 0 && samples.bytes.upperBound <= bytes.count)
    }
    for packet in sound.packets(in: bytes)?.packets ?? [] {
      precondition(packet.lowerBound >= 0 && packet.upperBound <= bytes.count)
    }
  },
]
