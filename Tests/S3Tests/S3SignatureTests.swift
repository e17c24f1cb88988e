import Testing

@testable import S3

/// The examples that Amazon publishes ("Signature Calculations for the Authorization Header: Transferring
/// Payload in a Single Chunk"): their keys, requests and signatures.
@Suite struct S3SignatureTests {
  private let signature = S3Signature(
    credentials: S3Credentials(
      accessKey: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    region: "us-east-1", time: "20130524T000000Z")

  private func fields(
    _ digest: String, _ more: (name: String, value: String)...
  ) -> [(name: String, value: String)] {
    [
      ("host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", digest),
      ("x-amz-date", "20130524T000000Z"),
    ] + more
  }

  @Test func `signs the published GET of an object`() {
    let empty = S3Signature.emptyDigest
    #expect(empty == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    let value = signature.authorization(
      "GET", "/test.txt", query: [], fields: fields(empty, ("range", "bytes=0-9")), digest: empty)
    #expect(
      value == "AWS4-HMAC-SHA256 "
        + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
  }

  @Test func `signs the published PUT of an object`() {
    let digest = S3Signature.sha256(Array("Welcome to Amazon S3.".utf8))
    #expect(digest == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
    let value = signature.authorization(
      "PUT", "/test%24file.text", query: [],
      fields: fields(
        digest, ("date", "Fri, 24 May 2013 00:00:00 GMT"),
        ("x-amz-storage-class", "REDUCED_REDUNDANCY")), digest: digest)
    #expect(
      value.hasSuffix("=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
  }

  @Test(arguments: [
    (
      [("lifecycle", "")],
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    ),
    (
      [("prefix", "J"), ("max-keys", "2")],
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    ),
  ])
  func `signs the published queries`(query: [(String, String)], expected: String) {
    let empty = S3Signature.emptyDigest
    let value = signature.authorization(
      "GET", "/", query: query.map { ($0.0, $0.1) }, fields: fields(empty), digest: empty)
    #expect(value.hasSuffix("=" + expected))
  }

  @Test func `writes times as they are signed`() {
    #expect(S3Signature.time(1_369_353_600) == "20130524T000000Z")
    #expect(S3Signature.time(1_704_164_645) == "20240102T030405Z")
  }

  @Test func `reads addresses of buckets`() throws {
    let bucket = try S3Bucket("s3://media/a/b?endpoint=https%3A%2F%2Fs3.example:9000/&region=eu-1")
    #expect(bucket.name == "media" && bucket.prefix == "a/b/" && bucket.region == "eu-1")
    #expect(bucket.endpoint == "https://s3.example:9000" && bucket.host == "s3.example:9000")
    #expect(bucket.path("blobs/ab") == "/media/a/b/blobs/ab" && bucket.path(nil) == "/media")
    #expect(try S3Bucket("s3://media").endpoint == "https://s3.us-east-1.amazonaws.com")
  }

  @Test(arguments: [
    "", "media", "https://media", "s3://", "s3://../x", "s3://a b",
    "s3://media?endpoint=s3.example",
    "s3://media?endpoint=https://user:word@s3.example", "s3://media?secret=x",
    "s3://media?endpoint=https://", "s3://media?region=",
  ])
  func `refuses other addresses, and repeats no query`(url: String) {
    let error = #expect(throws: S3Error.self) { try S3Bucket(url) }
    #expect(error?.code == .invalid && error?.reason.contains("secret=x") == false)
  }

  @Test func `shows no secret`() {
    #expect(!"\(signature.credentials)".contains("wJalr"))
  }
}
