import CVersions

/// What the running program was built from.
package enum BuildInformation {
  /// The commit, or "unknown" if it was not built by `make`.
  package static var commit: String { String(cString: cversions_commit()) }

  /// The names and versions of the shared libraries, for people.
  package static var libraries: String { String(cString: cversions_libraries()) }
}
