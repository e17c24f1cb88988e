import Imaging

extension Facts {
  /// The answer to `validate`: all values are words and numbers of our own, so nothing needs escaping.
  var json: String {
    var members = [
      #""contentType":"\#(kind.mediaType)""#,
      #""width":\#(size.width)"#,
      #""height":\#(size.height)"#,
      #""colour":"\#(colour)""#,
      #""transparent":\#(isTransparent)"#,
      #""animated":\#(isAnimated)"#,
    ]
    if !advice.isEmpty { members.append(#""advice":"\#(advice.joined(separator: " "))""#) }
    return "{\(members.joined(separator: ","))}"
  }
}
