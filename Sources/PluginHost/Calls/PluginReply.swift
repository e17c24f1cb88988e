/// A plugin's good answer, complete and checked.
package struct PluginReply: Sendable {
  /// Where the content is.
  package enum Body: Sendable {
    /// In memory, because it is small.
    case bytes([UInt8])
    /// In a file that belongs to the reply.
    case file(SpooledFile)
    /// In the asset of the call, unchanged.
    case asset
  }

  /// 200, or 302 with a ``location``.
  package let status: Int
  /// The media type, one the manifest's `produces` covers; empty with a redirect.
  package let contentType: String
  /// The further fields the plugin may set, such as `Content-Disposition`.
  package let fields: [(name: String, value: String)]
  package let body: Body
  /// The absolute URL of a redirect.
  package let location: String?
  /// Whether the answer may be kept and given to others: no `Cache-Control: no-store` or `private`.
  package let isStorable: Bool
}
