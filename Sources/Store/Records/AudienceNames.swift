extension Accounts {
  /// Users and devices' own tags whose names begin with a text, in any usual case; at most `limit` of each.
  ///
  /// The cost does not grow with the users and devices.
  package func names(
    startingWith prefix: String, includingPasswordless: Bool, limit: Int
  ) async throws -> (users: [String], tags: [String]) {
    var (users, tags) = (Set<String>(), Set<String>())
    for prefix in Self.spellings(of: prefix) {
      let end = prefix + "\u{10FFFF}"
      users.formUnion(
        try await userNames(
          from: prefix, below: end, includingPasswordless: includingPasswordless, limit: limit))
      tags.formUnion(try await self.tags(from: prefix, below: end, limit: limit))
    }
    return (Array(users.sorted().prefix(limit)), Array(tags.sorted().prefix(limit)))
  }

  /// The different tags in a range, without those that only the server assigns.
  private func tags(from first: String, below end: String, limit: Int) async throws -> [String] {
    var (tags, first) = ([String](), first)
    while tags.count < limit, first < end, let tag = try await tag(from: first, below: end) {
      if let reserved = ["username:", "from:", "segment:", "opened:", "notOpened:", "$"].first(
        where: tag.hasPrefix)
      {
        first = reserved + "\u{10FFFF}"
      } else {
        tags.append(tag)
        // No character of a tag comes before it, and PostgreSQL takes no NUL.
        first = tag + "\u{1}"
      }
    }
    return tags
  }

  /// A text as it was typed, in small letters, with a capital, and in capitals.
  private static func spellings(of text: String) -> Set<String> {
    let small = text.lowercased()
    return [text, small, small.prefix(1).uppercased() + small.dropFirst(), text.uppercased()]
  }
}
