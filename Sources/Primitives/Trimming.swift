extension String {
  /// The text without the characters at its start and its end that `isUnwanted` holds for.
  package func trimming(_ isUnwanted: (Character) -> Bool) -> String {
    let rest = drop(while: isUnwanted)
    return String(
      rest[..<(rest.lastIndex { !isUnwanted($0) }.map { rest.index(after: $0) } ?? rest.startIndex)]
    )
  }
}
