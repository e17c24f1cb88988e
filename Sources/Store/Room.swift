/// A room that is being built.
enum StoreRoom {}
