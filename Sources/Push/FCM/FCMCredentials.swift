import FoundationEssentials
import Primitives

/// The service account that sends for a Firebase project, from the JSON file that Google's console makes.
package struct FCMCredentials: Sendable {
  /// The right that the access token gives.
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  /// How long an assertion is valid, in seconds: Google takes an hour at most.
  private static let assertionLife = 3600

  /// The name of the project, such as `my-app-1234`.
  let project: String
  /// Where an assertion is exchanged for an access token.
  let tokenURL: String
  let email: String
  private let keyID: String
  private let key: String

  private struct File: Decodable {
    let type: String
    let project_id: String
    let private_key_id: String
    let private_key: String
    let client_email: String
    let token_uri: String
  }

  /// Reads the text of the file; signs once to check the key.
  ///
  /// - Throws: a `PushError` that says what is wrong with it.
  package init(json: String) throws(PushError) {
    let file: File
    do {
      file = try JSONDecoder().decode(File.self, from: Data(json.utf8))
    } catch DecodingError.keyNotFound(let name, _) {
      throw Self.unusable("it has no member \"\(name.stringValue)\"")
    } catch {
      throw Self.unusable("it is not JSON with texts as its members")
    }
    guard file.type == "service_account" else {
      throw Self.unusable("its type is \"\(file.type)\", not \"service_account\"")
    }
    let isProject = file.project_id.utf8.allSatisfy {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "-.:_".utf8.contains($0)
    }
    guard isProject, !file.project_id.isEmpty else {
      throw Self.unusable("\"\(file.project_id)\" is no project_id")
    }
    guard file.token_uri.hasPrefix("https://"),
      file.token_uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw Self.unusable("its token_uri is not an https address") }
    (project, tokenURL) = (file.project_id, file.token_uri)
    (email, keyID, key) = (file.client_email, file.private_key_id, file.private_key)
    _ = try assertion(issued: Date())
  }

  private static func unusable(_ problem: String) -> PushError {
    PushError(
      .configuration,
      "The service account can't be used: \(problem). Download a new key in the Firebase console, "
        + "at Project settings, Service accounts.")
  }

  /// A signed token (RFC 7523) that asks for an access token.
  func assertion(issued: Date) throws(PushError) -> String {
    let quoted = JSONText.quoted
    let time = Int(issued.timeIntervalSince1970)
    let header = #"{"alg":"RS256","typ":"JWT","kid":\#(quoted(keyID))}"#
    let claims =
      #"{"iss":\#(quoted(email)),"scope":\#(quoted(Self.scope)),"aud":\#(quoted(tokenURL)),"#
      + #""iat":\#(time),"exp":\#(time + Self.assertionLife)}"#
    let unsigned = [header, claims].map { Base64URL.encode(Array($0.utf8)) }
      .joined(separator: ".")
    let signature = try Signing.rs256(pem: key, Array(unsigned.utf8))
    return unsigned + "." + Base64URL.encode(signature)
  }
}
