import FoundationEssentials
import PluginHost

extension Check {
  /// What a form in the manifest promises.
  static let form = [
    Check(
      "has samples that its form takes",
      why: "The server refuses what its form does not take before it calls the plugin.",
      fix: "Put what one would fill in into samples/NAME.payload, or change \"form\"."
    ) { _, plugin, samples in
      let form = plugin.manifest.form ?? []
      for sample in samples where sample.asset == nil {
        if let fault = FormField.faults(in: sample.payload, of: form).first {
          return .fails("\(sample.name): \(fault.name ?? "it") \(fault.rule)")
        }
      }
      return samples.contains { $0.asset == nil } ? .passes() : .noSample
    }.only(if: { $0.form != nil }, otherwise: "it has no form"),
    Check(
      "answers or refuses whatever its form takes",
      why: "A form bounds values, and not what they mean: a text has any letters, a day any year.",
      fix: "Refuse with Status: 422, Content-Type: text/plain and one sentence.",
      otherwise: "it has no form",
      survives: { _, plugin, _ in
        payloads(plugin.manifest.form ?? []).map { Sample(payload: $0).call() }
      }),
  ]

  /// Payloads that a form takes: with the required fields alone, and with the extremes of all.
  static func payloads(_ form: [FormField]) -> [String] {
    guard !form.isEmpty else { return [] }
    let values = form.map { ($0, extremes(of: $0)) }
    let turns = values.map(\.1.count).max() ?? 0
    let least = values.filter(\.0.isRequired)
    let filled = [(least, 0)] + (0..<turns).map { (values, $0) }
    return filled.map { fields, turn in
      let members = fields.map { ($0.0.name, $0.1[turn % $0.1.count]) }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let text = try? encoder.encode(Dictionary(uniqueKeysWithValues: members))
      return String(decoding: text ?? Data(), as: UTF8.self)
    }
  }

  /// At least one value that a field takes.
  private static func extremes(of field: FormField) -> [FormField.Value] {
    let length = field.maxLength ?? 0
    let (least, most) = (field.minimum, field.maximum)
    switch field.kind {
    case .text, .longtext:
      let texts =
        ["x"]
        + hostileTexts.filter { text in
          text.unicodeScalars.count <= length
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        }
      return (texts + [String(repeating: "\u{1F389}", count: length)]).map { .text($0) }
    case .number:
      let usual = [least ?? most ?? 0, most ?? least ?? 0]
      let further = [-1e15, 0, 0.1, 1e15].filter { number in
        least ?? -.infinity <= number && number <= most ?? .infinity
      }
      return (usual + further).map { .number($0) }
    case .date: return [.text("1000-01-01"), .text("2096-02-29"), .text("9999-12-31")]
    case .url:
      return [.text("http://a"), .text("https://b\u{FC}cher.example:8080/?q=\"'<>&\u{20AC}#x")]
    case .choice: return field.choices.map { .text($0.value) }
    case .boolean: return [.bool(true), .bool(false)]
    }
  }
}

extension FormField.Value: Encodable {
  /// Encodes the value alone.
  package func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .text(let text): try value.encode(text)
    case .number(let number): try value.encode(number)
    case .bool(let bool): try value.encode(bool)
    }
  }
}
