extension String {
  /// A random name for a file, of digits and small letters.
  package static func randomName() -> String {
    String(UInt64.random(in: .min ... .max), radix: 36)
  }
}
