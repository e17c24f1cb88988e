import JSON
import Primitives

/// What a provider says of itself (OpenID Connect Discovery 1.0, section 3).
struct ProviderMetadata: Sendable, Equatable {
  /// Where people sign in.
  let authorization: String
  /// Where a code is exchanged.
  let token: String
  /// Where the keys are that sign tokens.
  let keys: String
  /// Where more claims are; nil if nowhere.
  let userInfo: String?
  /// Where people sign out; nil if they can't.
  let endSession: String?
  /// Whether the secret belongs into the body of a request, and not into its head.
  let takesSecretInBody: Bool
  /// Whether it names itself in each redirection (RFC 9207).
  let namesItself: Bool

  /// Reads the document of a provider.
  ///
  /// - Throws: `provider` if it is another's, or something is missing.
  init(_ document: JSONTree, of configuration: OpenIDConfiguration) throws(OpenIDError) {
    let issuer = document["issuer"]?.text ?? ""
    guard issuer == configuration.issuer else {
      throw OpenIDError(
        .provider, "the provider calls itself \(issuer.printable), not \(configuration.issuer)")
    }
    authorization = try Self.required("authorization_endpoint", document)
    token = try Self.required("token_endpoint", document)
    keys = try Self.required("jwks_uri", document)
    userInfo = try Self.url("userinfo_endpoint", document)
    endSession = try Self.url("end_session_endpoint", document)
    let methods =
      document["token_endpoint_auth_methods_supported"]?.elements?.compactMap(\.text)
      ?? ["client_secret_basic"]
    takesSecretInBody =
      !methods.contains("client_secret_basic") && methods.contains("client_secret_post")
    namesItself = document["authorization_response_iss_parameter_supported"] == .bool(true)
  }

  private static func required(
    _ name: String, _ document: JSONTree
  ) throws(OpenIDError) -> String {
    guard let url = try url(name, document) else {
      throw OpenIDError(.provider, "the provider's description has no \(name)")
    }
    return url
  }

  private static func url(_ name: String, _ document: JSONTree) throws(OpenIDError) -> String? {
    guard let text = document[name]?.text, !text.isEmpty else { return nil }
    guard OpenIDConfiguration.isProtected(text), text.utf8.count <= 1024 else {
      throw OpenIDError(
        .provider, "the provider's \(name) must be a URL of https: \(text.printable.prefix(200))")
    }
    return text
  }
}
