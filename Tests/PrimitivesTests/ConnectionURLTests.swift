import Primitives
import Testing

/// What is shown and kept of a database's URL.
@Suite struct ConnectionURLTests {
  @Test(arguments: [
    ("postgres://a:b@h/d", "postgres://a:(secret)@h/d", "postgres://a@h/d"),
    ("postgres://a:b:@c@h/d", "postgres://a:(secret)@h/d", "postgres://a@h/d"),
    (
      "postgres://h/d?sslpassword=one&password=two&sslmode=require",
      "postgres://h/d?sslpassword=(secret)&password=(secret)&sslmode=require",
      "postgres://h/d?sslmode=require"
    ),
    ("postgres://h/d?password=two", "postgres://h/d?password=(secret)", "postgres://h/d"),
    (
      "postgres://a:b@/d?host=/run/x&password=two",
      "postgres://a:(secret)@/d?host=/run/x&password=(secret)", "postgres://a@/d?host=/run/x"
    ),
  ])
  func `no password in it is shown or kept`(url: String, hidden: String, without: String) {
    #expect(ConnectionURL.hidingPassword(url) == hidden && ConnectionURL.hasPassword(url))
    #expect(ConnectionURL.removingPassword(url) == without)
  }

  @Test(arguments: [
    "postgres://h/d", "postgres://a@h:5432/d?sslmode=verify-full", "host=h dbname=d", "",
    "postgres://h/password=x",
  ])
  func `one without a password stays as it is`(url: String) {
    #expect(!ConnectionURL.hasPassword(url) && ConnectionURL.removingPassword(url) == url)
  }
}
