import Primitives
import Testing

@testable import PluginHost

/// The records of a response.
@Suite(.timeLimit(.minutes(1))) struct FastCGIResponseReaderTests {
  /// What a response means, as text: output, errors and the two statuses of its end.
  private func read(_ bytes: [UInt8], pieces: Int) throws(MalformedOutput) -> [String] {
    var reader = FastCGIResponseReader(258)
    var (output, errors, end) = ("", "", "")
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
      var failure: MalformedOutput?
      piece.withUnsafeBytes { piece in
        do throws(MalformedOutput) {
          try reader.read(piece) { event throws(MalformedOutput) in
            switch event {
            case .output(let bytes): output += String(decoding: bytes, as: UTF8.self)
            case .errors(let bytes): errors += String(decoding: bytes, as: UTF8.self)
            case .end(let status, let protocolStatus): end += "\(status) \(protocolStatus)"
            }
          }
        } catch { failure = error }
      }
      if let failure { throw failure }
    }
    return [output, errors, end]
  }

  private func record(
    _ kind: FastCGIRecord.Kind, _ content: [UInt8] = [], id: UInt16 = 258
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    FastCGIRecord.append(kind, requestID: id, content[...], to: &bytes)
    return bytes
  }

  private var end: [UInt8] { record(.endRequest, [1, 2, 3, 4, 5, 0, 0, 0]) }

  @Test func `are the same in pieces of any size`() throws {
    let bytes =
      record(.output, Array("Content".utf8)) + record(.errors, Array("oh".utf8))
      + record(.unknownType, [1, 2, 3], id: 0) + record(.output, Array("-Type".utf8))
      + record(.output) + record(.errors) + end
    for pieces in 1...bytes.count {
      #expect(try read(bytes, pieces: pieces) == ["Content-Type", "oh", "16909060 5"])
    }
  }

  @Test func `may not be of another request, version or kind, nor of another size at the end`() {
    var version = record(.output, [1])
    version[0] = 2
    var kind = record(.output, [1])
    kind[1] = 12
    for (bytes, cause) in [
      (record(.output, [1], id: 2), "its FastCGI record begins"),
      (record(.output, [1], id: 1), "its FastCGI record begins"),
      (record(.endRequest, [0, 0, 0, 0, 0, 0, 0, 0], id: 257), "its FastCGI record begins"),
      (version, "its FastCGI record begins"), (kind, "its FastCGI record begins"),
      (record(.endRequest, [0]), "end record has 1 bytes"),
      (record(.endRequest), "end record has 0 bytes"),
    ] {
      for pieces in [1, 1000] {
        #expect {
          try read(bytes, pieces: pieces)
        } throws: {
          ($0 as? MalformedOutput)?.description.contains(cause) == true
        }
      }
    }
  }

  @Test func `may not be followed by anything`() throws {
    for extra in [[0], record(.output), record(.getValues, id: 0), end] {
      for pieces in [1, 1000] {
        #expect(throws: MalformedOutput.self) { try read(end + extra, pieces: pieces) }
      }
    }
  }
}
