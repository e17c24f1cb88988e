import FoundationEssentials

// Files in the drop folders of other nodes, whose assets were removed or replaced.
extension PostgresTables {
  func addFileRemoval(_ removal: FileRemoval) async throws {
    try await database.run(
      """
      INSERT INTO file_removal(folder, rich_type, name, stamp) VALUES ($1, $2, $3, $4)
      ON CONFLICT (folder, rich_type, name) DO UPDATE SET stamp = excluded.stamp
      """, removal.folder, removal.richType, removal.name, removal.stamp)
  }

  func takeFileRemoval(
    _ richType: String, _ name: String, folder: String
  ) async throws -> FileRemoval? {
    let stamp = try await database.read { connection in
      try connection.value(
        "SELECT stamp FROM file_removal WHERE folder = $1 AND rich_type = $2 AND name = $3",
        folder, richType, name, as: String.self)
    }
    guard let stamp else { return nil }
    try await database.run(
      "DELETE FROM file_removal WHERE folder = $1 AND rich_type = $2 AND name = $3 AND stamp = $4",
      folder, richType, name, stamp)
    return FileRemoval(folder: folder, richType: richType, name: name, stamp: stamp)
  }
}
