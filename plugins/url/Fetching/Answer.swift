/// What a server sent for one request, up to a limit.
struct Answer {
  var status = 0
  /// Media type with its parameters, as declared.
  var contentType = ""
  /// Where a redirect points, as written.
  var location: String?
  var body: [UInt8] = []
  /// Whether more came than was wanted.
  var isCut = false
}
