/// Parameters in text form, each ended by a zero byte, and where they begin.
struct ParameterBuffer {
  private var bytes: [UInt8] = []
  private var starts: [Int?] = []

  /// Calls `body` with the parameters, nil for NULL, and one more nil, which ends a list of keywords.
  mutating func withPointers<R>(
    to values: [any Parameter],
    _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>) -> R
  ) -> R {
    bytes.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    for value in values {
      let start = bytes.count
      let isNull = !value.appendText(to: &bytes)
      starts.append(isNull ? nil : start)
      bytes.append(0)
    }
    return bytes.withUnsafeBytes { bytes in
      var pointers = (starts + [nil]).map { start in
        start.flatMap { bytes.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
      }
      return body(&pointers)
    }
  }
}
