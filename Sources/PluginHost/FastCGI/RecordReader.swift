/// Takes apart the records of a worker's answer to one request, as they come in.
///
/// A record of another request, and whatever follows the end of the answer, is refused: a worker that
/// confuses its requests could give one caller what was meant for another.
struct RecordReader {
  /// What a piece of the stream means.
  enum Event {
    case output(UnsafeRawBufferPointer)
    case errors(UnsafeRawBufferPointer)
    /// The answer is complete (section 5.5).
    case end(status: UInt32, protocolStatus: UInt8)
  }

  private let id: UInt16
  private var isOver = false
  private var header: [UInt8] = []
  private var kind: Record.Kind?
  private var content = 0
  private var padding = 0
  private var ending: [UInt8] = []

  /// Reads the answer to the request of this number.
  init(_ id: UInt16) { self.id = id }

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
      if isOver { throw Self.afterEnd }
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
      guard padding == 0 else { continue }
      header.removeAll(keepingCapacity: true)
      if kind == .endRequest {
        isOver = true
        let status = ending.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        try take(.end(status: status, protocolStatus: ending[4]))
      }
    }
  }

  private mutating func begin() throws(Malformation) {
    kind = Record.Kind(rawValue: header[1])
    content = Int(header[4]) << 8 | Int(header[5])
    padding = Int(header[6])
    ending = []
    let number = UInt16(header[2]) << 8 | UInt16(header[3])
    let (isOurs, isForNobody) = (number == id, number == 0)
    guard header[0] == 1, kind != nil, isOurs || isForNobody else {
      throw Malformation("its FastCGI record begins with \(header)")
    }
    if isForNobody { kind = .unknownType }
    if kind == .endRequest, content != 8 {
      throw Malformation("its FastCGI end record has \(content) bytes")
    }
  }

  /// What is wrong with bytes that no request asked for.
  static let afterEnd = Malformation("it wrote more after the end of its answer")
}
