import CCurl

/// Header fields as libcurl takes them, which many requests may share.
///
/// Unchecked: the list never changes.
final class SharedFields: @unchecked Sendable {
  let list: UnsafeMutablePointer<curl_slist>?

  init(_ fields: [(name: String, value: String)]) {
    list = Self.list(fields)
  }

  deinit { curl_slist_free_all(list) }

  /// The fields as a list, which is the caller's to free.
  static func list(
    _ fields: [(name: String, value: String)]
  ) -> UnsafeMutablePointer<curl_slist>? {
    fields.reduce(nil) { list, field in
      // A field with a control character could become two, so it is left out.
      guard field.value.utf8.allSatisfy({ $0 >= 0x20 }) else { return list }
      return curl_slist_append(list, "\(field.name): \(field.value)")
    }
  }
}
