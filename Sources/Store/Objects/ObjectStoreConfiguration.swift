import Primitives
import S3

/// A bucket of an S3-compatible object store, and how to use it.
package struct ObjectStoreConfiguration: Sendable {
  let bucket: S3Bucket
  let credentials: S3Credentials
  let authority: String?
  /// How long a request without content may take, with its repetitions.
  var deadline = Duration.seconds(5)
  /// What deadlines and pauses are measured by.
  var clock: any SteadyClock = ContinuousClock()
  /// The URL, which has no secret.
  package let url: String

  /// Parses `s3://bucket[/prefix]?endpoint=https://host[:port]&region=name`.
  ///
  /// `authority` is a PEM file with certificates to trust besides the system's. Throws `failed` for another URL.
  package init(
    _ url: String, accessKey: String, secret: String, authority: String? = nil
  ) throws(StoreError) {
    do throws(S3Error) { bucket = try S3Bucket(url) } catch {
      throw StoreError(.failed, error.reason)
    }
    credentials = S3Credentials(accessKey: accessKey, secret: secret)
    (self.authority, self.url) = (authority, url)
  }
}
