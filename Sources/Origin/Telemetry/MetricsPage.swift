/// A page in Prometheus' text format (version 0.0.4).
struct MetricsPage {
  private(set) var text = ""

  /// Begins a family; its samples follow.
  mutating func family(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  /// A sample with its labels.
  mutating func sample(
    _ name: String, _ labels: KeyValuePairs<String, String>, _ value: some Numeric
  ) {
    let inner = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    text += inner.isEmpty ? "\(name) \(value)\n" : "\(name){\(inner)} \(value)\n"
  }

  /// A sample without labels.
  mutating func sample(_ name: String, _ value: some Numeric) { sample(name, [:], value) }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
