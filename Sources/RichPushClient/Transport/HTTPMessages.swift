#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request to the server.
struct HTTPRequest: Sendable {
  /// The content that is sent.
  enum Body: Sendable {
    case none
    case data(Data)
    case file(URL)
  }

  let method: String
  let url: URL
  var fields: [String: String]
  var body = Body.none
  /// The time without any byte after which the connection counts as broken, in seconds.
  var timeout = 60
}

/// The head of a response.
struct HTTPResponse: Sendable {
  let status: Int
  /// The fields by their lower-case names, at least the ones the client reads.
  let fields: [String: String]
}

/// What arrives on a connection, in order.
enum ResponsePart: Sendable {
  case head(HTTPResponse)
  case bytes(Data)
}

/// The parts of a response; releasing the sequence and its iterator ends the transfer.
typealias ResponseParts = AsyncThrowingStream<ResponsePart, any Error>
