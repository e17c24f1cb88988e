import RichPushAPI

/// The templates that a name stands for.
enum ShippedTemplate: String, CaseIterable {
  case alertmanager, grafana, github

  fileprivate var text: [UInt8] {
    switch self {
    case .alertmanager: PackageResources.alertmanager_json
    case .grafana: PackageResources.grafana_json
    case .github: PackageResources.github_json
    }
  }
}

extension WebhookTemplate {
  /// The template that a name stands for, or that is given as a whole.
  ///
  /// - Throws: everything that is wrong with it.
  init(given template: JSONValue) throws(ServiceError) {
    guard let name = template.text else {
      try self.init(template)
      return
    }
    guard let shipped = ShippedTemplate(rawValue: name), let content = JSONValue(shipped.text)
    else {
      let names = ShippedTemplate.allCases.map(\.rawValue).joined(separator: ", ")
      throw ServiceError(
        .init(
          "template", .rejected,
          "template must be one of \(names), or an object, not \(name.quoted)."))
    }
    try self.init(content)
  }
}
