import Foundation

/// Starts nginx with the content of the block `http`, and with all its files in a folder.
func startNginx(_ site: String, in scratch: Scratch) throws -> Child {
  let folder = scratch.folder.path
  let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: "\n")
  let configuration = """
    daemon off; pid \(folder)/pid; error_log \(folder)/errors; worker_processes 1;
    events {}
    http { access_log \(folder)/access; \(paths)
    \(site) }
    """
  let file = try scratch.drop(Array(configuration.utf8), as: "nginx.conf")
  return try Child("/usr/sbin/nginx", ["-c", file.path, "-p", folder, "-e", folder + "/errors"])
}
