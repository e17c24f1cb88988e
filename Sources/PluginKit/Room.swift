/// A room that is being built.
enum PluginKitRoom {}
