/// Takes a worker's records apart as they come in.
struct RecordReader {
  /// What a piece of the stream means.
  enum Event {
    case output(UnsafeRawBufferPointer)
    case errors(UnsafeRawBufferPointer)
    /// The answer is complete (section 5.5).
    case end(status: UInt32, protocolStatus: UInt8)
  }

  private var header: [UInt8] = []
  private var kind: Record.Kind?
  private var content = 0
  private var padding = 0
  private var ending: [UInt8] = []

  /// Reads on; `take` gets each event in order and the bytes of a stream as they are.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer, _ take: (Event) throws(Malformation) -> Void
  ) throws(Malformation) {
    var rest = bytes
    func next(_ count: Int) -> UnsafeRawBufferPointer {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      return piece
    }
    while !rest.isEmpty {
      if header.count < Record.headerSize {
        header += next(Record.headerSize - header.count)
        if header.count == Record.headerSize { try begin() }
      } else if content > 0 {
        let piece = next(content)
        content -= piece.count
        switch kind {
        case .output: try take(.output(piece))
        case .errors: try take(.errors(piece))
        case .endRequest: ending += piece
        default: break
        }
      } else {
        padding -= next(padding).count
      }
      guard header.count == Record.headerSize, content == 0 else { continue }
      if kind == .endRequest, ending.count >= 5 {
        let status = ending.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        kind = nil
        try take(.end(status: status, protocolStatus: ending[4]))
      }
      if padding == 0 { header.removeAll(keepingCapacity: true) }
    }
  }

  private mutating func begin() throws(Malformation) {
    kind = Record.Kind(rawValue: header[1])
    content = Int(header[4]) << 8 | Int(header[5])
    padding = Int(header[6])
    ending = []
    let isOurs = header[2] == 0 && header[3] == 1
    let isForNobody = header[2] == 0 && header[3] == 0
    guard header[0] == 1, kind != nil, isOurs || isForNobody else {
      throw Malformation("its FastCGI record begins with \(header)")
    }
    if isForNobody { kind = .unknownType }
    if kind == .endRequest, content != 8 {
      throw Malformation("its FastCGI end record has \(content) bytes")
    }
  }
}
