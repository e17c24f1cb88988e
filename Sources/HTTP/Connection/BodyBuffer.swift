/// A body that is collected in memory.
final class BodyBuffer: @unchecked Sendable {  // filled by the HTTP thread, and only then handed on
  let limit: Int
  let deadline: Duration
  let work: @Sendable ([UInt8]) async -> Response
  private(set) var bytes: [UInt8] = []

  init(limit: Int, deadline: Duration, work: @escaping @Sendable ([UInt8]) async -> Response) {
    self.limit = limit
    self.deadline = deadline
    self.work = work
  }

  func append(_ piece: UnsafeRawBufferPointer) throws(Refusal) {
    guard bytes.count + piece.count <= limit else { throw .tooLarge(limit) }
    bytes.append(contentsOf: piece)
  }
}
