import Foundation

extension Date {
  /// When this second began: whole seconds are left until a date that is so many later.
  static var thisSecond: Date {
    Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
  }
}
