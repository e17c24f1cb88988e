/// A file that was given as an answer before, and is given again to those who may have it.
package protocol StandingAnswer: AnyObject, Sendable {
  /// What is given; nil for what has to be made each time, and so does not stand.
  var content: Content? { get }
  /// What measurements and logs call the place that gives it.
  var route: String { get }
  /// It is given once more; called on an HTTP thread.
  func take()
}
