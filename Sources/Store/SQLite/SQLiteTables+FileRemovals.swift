// There are no files of other nodes.
extension SQLiteTables {
  func addFileRemoval(_ removal: FileRemoval) {}

  func takeFileRemoval(_ richType: String, _ name: String, folder: String) -> FileRemoval? { nil }
}
