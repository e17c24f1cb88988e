/// An order of assets in SQL.
struct AssetSort {
  /// Whether names are in the order of ``AssetRecord/ordered(_:)``, not byte by byte after their rich types.
  private let isByName: Bool
  /// The column that comes before the names, and whether the largest value comes first.
  private let first: (column: String, isFalling: Bool)?

  /// The order; without one by rich type and name, byte by byte.
  init(_ order: AssetOrder?) {
    isByName = order != nil
    first =
      switch order {
      case nil, .name: nil
      case .newest: ("asset.modified", true)
      case .oldest: ("asset.modified", false)
      case .largest: ("asset.bytes", true)
      case .smallest: ("asset.bytes", false)
      }
  }

  private var names: String {
    isByName ? "asset.ordered, asset.name, asset.rich_type" : "asset.rich_type, asset.name"
  }

  /// What follows ORDER BY.
  var columns: String {
    guard let (column, isFalling) = first else { return names }
    return "\(column)\(isFalling ? " DESC" : ""), \(names)"
  }

  /// The condition that an asset comes after a place, whose ``values(_:)`` are the parameters from this number on.
  func isAfter(firstParameter number: Int) -> String {
    let parameters =
      isByName ? "$\(number), $\(number + 1), $\(number + 2)" : "$\(number), $\(number + 1)"
    let condition = "(\(names)) > (\(parameters))"
    guard let (column, isFalling) = first else { return condition }
    let value = "$\(number + 3)"
    return "(\(column) \(isFalling ? "<" : ">") \(value) OR \(column) = \(value) AND \(condition))"
  }

  /// The parameters of a place; for nil, those of a place before all assets.
  func values(_ place: AssetPosition?) -> [any Parameter] {
    let (richType, name) = (place?.richType ?? "", place?.name ?? "")
    if !isByName { return [richType, name] }
    let values: [any Parameter] = [AssetRecord.ordered(name), name, richType]
    guard let (_, isFalling) = first else { return values }
    return values + [place?.value ?? (isFalling ? Int.max : Int.min)]
  }
}
