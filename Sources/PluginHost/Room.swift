/// A room that is being built.
enum PluginHostRoom {}
