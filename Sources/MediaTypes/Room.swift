/// A room that is being built.
enum MediaTypesRoom {}
