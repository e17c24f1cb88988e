/// A running launcher of plugins, for a host that is made later.
///
/// A server that was started by root starts it before it changes to another user: the launcher alone keeps
/// the capabilities that user IDs of plugins need.
package struct PluginLauncher: Sendable {
  let forker: Forker

  /// Starts the launcher and waits until it is ready.
  ///
  /// - Throws: ``PluginError`` 503 when it cannot be started.
  package init(_ configuration: PluginConfiguration) throws(PluginError) {
    forker = Forker(configuration)
    _ = try forker.sandbox()
  }
}
