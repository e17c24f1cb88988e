extension Store {
  /// The users with a registration that carries every tag of `with` and none of `without`, by name.
  ///
  /// The cost grows with the registrations of the tags; without any in `with`, with all there are.
  package func users(with: [String], without: [String]) throws -> [String] {
    try database.read { connection in
      try connection.all(
        """
        SELECT DISTINCT user FROM registration
        WHERE (?1 = 0 OR id IN (
            SELECT registration FROM registration_tag WHERE tag IN (SELECT value FROM json_each(?2))
            GROUP BY registration HAVING count(*) = ?1))
          AND id NOT IN (
            SELECT registration FROM registration_tag WHERE tag IN (SELECT value FROM json_each(?3)))
        ORDER BY user
        """, Set(with).count, StringList(Array(Set(with))), StringList(without)
      ) { row in try row.next() }
    }
  }
}
