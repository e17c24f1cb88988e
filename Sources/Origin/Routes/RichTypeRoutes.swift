import HTTP
import PluginHost
import RichPushAPI

/// `GET /api/types`: the kinds of content, with the fields of each that needs no file.
struct RichTypeRoutes: Sendable {
  let host: PluginHost

  func list(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let usable = host.plugins().filter { $0.problem == nil }
    return .json(200, RichTypeList(types: usable.map(RichTypeList.RichType.init)))
  }
}

extension RichTypeList.RichType {
  fileprivate init(_ plugin: Plugin) {
    let manifest = plugin.manifest
    self.init(
      richType: plugin.richType, label: manifest.label,
      form: manifest.form?.map(RichTypeList.Field.init))
  }
}

extension RichTypeList.Field {
  fileprivate init(_ field: FormField) {
    self.init(
      name: field.name, label: field.label, kind: field.kind.rawValue, required: field.isRequired,
      choices: field.choices.map { .init(value: $0.value, label: $0.label) })
    example = field.example.map { value in
      switch value {
      case .text(let text): .string(text)
      case .number(let number): .number(number)
      case .bool(let bool): .bool(bool)
      }
    }
    (minimum, maximum, maxLength) = (field.minimum, field.maximum, field.maxLength)
  }
}
