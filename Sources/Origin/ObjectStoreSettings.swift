import Media
import Store

/// The object store of `--objects`, with the key from the environment.
package struct ObjectStoreSettings: Sendable {
  /// The environment variables that ``init(_:environment:)`` reads.
  package static let variables = [
    (name: accessKey, explanation: "objects: the ID of the access key", isSecret: false),
    (name: accessKey + "_FILE", explanation: "objects: a file with that ID", isSecret: false),
    (name: secretKey, explanation: "objects: the access key's secret", isSecret: true),
    (name: secretKey + "_FILE", explanation: "objects: a file with the secret", isSecret: false),
    (
      name: authority,
      explanation: "objects: a PEM file with additional certificate authorities", isSecret: false
    ),
  ]

  /// The bucket, with the key.
  let configuration: ObjectStoreConfiguration
  /// The files with secrets.
  let files: [String]

  private static let accessKey = "RICHPUSH_OBJECTS_ACCESS_KEY"
  private static let secretKey = "RICHPUSH_OBJECTS_SECRET_KEY"
  private static let authority = "RICHPUSH_OBJECTS_CA"

  /// Parses the URL and reads the key; nil without a URL.
  ///
  /// - Throws: `OperatorError` that names the option or the variable that is wrong.
  package init?(_ url: String?, environment: [String: String]) throws {
    guard let url, !url.isEmpty else { return nil }
    let authority = try SecretVariable.authority(Self.authority, environment)
    let key = try Self.secret(Self.accessKey, environment)
    let secret = try Self.secret(Self.secretKey, environment)
    do throws(StoreError) {
      configuration = try ObjectStoreConfiguration(
        url, accessKey: key, secret: secret, authority: authority)
    } catch { throw OperatorError("--objects: \(error.reason)") }
    files = [Self.accessKey, Self.secretKey].compactMap { environment[$0 + "_FILE"] }
  }

  /// Lists, writes, reads and removes a small object in the bucket, within some seconds.
  ///
  /// - Throws: An error that says which of these is not possible.
  package func check() async throws { try await configuration.check() }

  private static func secret(
    _ name: String, _ environment: [String: String]
  ) throws(OperatorError) -> String {
    guard let text = try SecretVariable.text(name, environment) else {
      throw OperatorError("--objects needs \(name) or \(name)_FILE")
    }
    return text
  }
}
