// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),  // `any` is spelled (SE-0335)
  .enableUpcomingFeature("MemberImportVisibility"),  // no member without its import (SE-0444)
  .enableUpcomingFeature("InternalImportsByDefault"),  // an import leaks if it says so (SE-0409)
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // async stays with caller (SE-0461)
]
let strictC: [CSetting] = [
  .treatAllWarnings(as: .error),
  .unsafeFlags(["-Wall", "-Wextra"]),
]

/// A room of the floor plan in `docs/ARCHITECTURE.md`: a library of ours and what it stands on.
func room(
  _ name: String, on dependencies: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

/// A plugin: an executable of its own, in `plugins/<richType>/` beside its manifest.
func plugin(_ name: String, on dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "plugins/\(name)", exclude: ["plugin.json"],
    swiftSettings: strict)
}

func tests(
  of name: String, on dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, exclude: exclude,
    swiftSettings: strict)
}

let package = Package(
  name: "richpush",
  products: [
    .executable(name: "richpush", targets: ["richpush"]),
    .library(name: "RichPushClient", targets: ["RichPushClient"]),
    .library(name: "PluginKit", targets: ["PluginKit"]),
  ],
  targets: [
    .target(
      name: "CLibraries", cSettings: strictC,
      linkerSettings: ["sqlite3", "curl", "gnutls", "crypt"].map {
        .linkedLibrary($0)
      }),
    .target(
      name: "CCodecs", cSettings: strictC + [.unsafeFlags(["-O3"])],
      linkerSettings: ["png", "z", "jpeg", "lcms2", "m"].map { .linkedLibrary($0) }),
    .systemLibrary(name: "CSound"),
    .executableTarget(
      name: "richpush-exec", cSettings: strictC,
      linkerSettings: [.unsafeFlags(["-static-executable", "-nostartfiles"])]),

    room("HTTP", on: ["CLibraries"]),
    room("MediaTypes"),
    room("Store", on: ["CLibraries"]),
    room("Push", on: ["HTTP", "CLibraries"]),
    room("PluginHost", on: ["HTTP", "CLibraries"]),
    room("PluginBench", on: ["PluginHost", "MediaTypes"]),
    room(
      "Origin", on: ["Store", "Push", "PluginHost", "MediaTypes", "HTTP", "CLibraries"],
      resources: [.embedInCode("Description/openapi.json")]),
    room(
      "RichPushClient", on: [.target(name: "CLibraries", condition: .when(platforms: [.linux]))]),
    room("PluginKit"),
    room("Imaging", on: ["CCodecs"]),
    .executableTarget(
      name: "richpush", dependencies: ["Origin", "PluginBench", "RichPushClient", "MediaTypes"],
      swiftSettings: strict),

    plugin("img", on: ["Imaging", "MediaTypes", "PluginKit"]),
    plugin("sound", on: ["CSound", "Imaging", "MediaTypes", "PluginKit"]),
    plugin("url", on: ["CLibraries", "MediaTypes", "PluginKit"]),

    tests(of: "HTTP", on: ["CLibraries"]),
    tests(of: "MediaTypes"),
    tests(of: "Store"),
    .target(
      name: "StandIns", path: "Tests/StandIns", exclude: ["Services"], swiftSettings: strict),
    tests(of: "Push", on: ["HTTP", "StandIns"]),
    tests(of: "PluginHost", on: ["HTTP", "richpush-exec"]),
    tests(
      of: "Origin", on: ["Store", "Push", "PluginHost", "MediaTypes", "HTTP", "richpush-exec"]),
    tests(of: "RichPushClient"),
    tests(of: "PluginKit"),
    tests(of: "Imaging", on: ["img"], exclude: ["Fixtures/pngs.py"]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "RichPushClient", "MediaTypes", "PluginHost", "PluginBench", "StandIns", "richpush",
        "richpush-exec", "img", "sound", "url",
      ], exclude: ["Plugins/Attacks", "Plugins/OldKernel"],
      swiftSettings: strict),
    .testTarget(name: "ArchitectureTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6])
