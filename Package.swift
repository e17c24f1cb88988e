// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),  // `any` is spelled (SE-0335)
  .enableUpcomingFeature("MemberImportVisibility"),  // no member without its import (SE-0444)
  .enableUpcomingFeature("InternalImportsByDefault"),  // an import leaks if it says so (SE-0409)
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // async stays with caller (SE-0461)
]
/// For what handles every pixel: hundreds of tests wait for it, and it takes ten times longer without.
let optimized = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]
let strictC: [CSetting] = [
  .treatAllWarnings(as: .error), .enableWarning("all"), .enableWarning("extra"),
]

/// The commit that a release is built from; the Makefile sets it.
let commit = Context.environment["RICHPUSH_COMMIT"] ?? "unknown"

/// A library of the graph in `docs/ARCHITECTURE.md`, and what it depends on.
func module(
  _ name: String, on dependencies: [Target.Dependency] = [], resources: [Resource] = [],
  settings: [SwiftSetting] = strict
) -> Target {
  .target(
    name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

/// A plugin: an executable of its own, in `plugins/<richType>/` beside its manifest.
func plugin(_ name: String, on dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "plugins/\(name)", exclude: ["plugin.json"],
    swiftSettings: optimized)
}

func tests(
  of name: String, on dependencies: [Target.Dependency] = [], exclude: [String] = [],
  settings: [SwiftSetting] = strict
) -> Target {
  .testTarget(
    name: "\(name)Tests",
    dependencies: [.byName(name: name), "StandIns", "Waiting"] + dependencies, exclude: exclude,
    swiftSettings: settings)
}

let package = Package(
  name: "richpush",
  // For apps with RichPushClient; the server runs on Linux.
  platforms: [.macOS(.v13), .iOS(.v16)],
  products: [
    .executable(name: "richpush", targets: ["richpush"]),
    .library(name: "RichPushClient", targets: ["RichPushClient"]),
    .library(name: "PluginKit", targets: ["PluginKit"]),
  ],
  targets: [
    .target(
      name: "CLibraries", cSettings: strictC + [.define("RICHPUSH_COMMIT", to: commit)],
      linkerSettings: [
        "sqlite3", "curl", "ssl", "crypto", "crypt", "unistring", "qrencode", "z",
      ].map {
        .linkedLibrary($0)
      }),
    .target(
      name: "CCodecs", cSettings: strictC + [.unsafeFlags(["-O3"])],
      linkerSettings: ["png", "isal", "jpeg", "lcms2", "m"].map { .linkedLibrary($0) }),
    .systemLibrary(name: "CCurl"),
    .systemLibrary(name: "CSound"),
    .executableTarget(
      name: "img-decode", cSettings: strictC,
      // A program in C needs no Swift runtime.
      linkerSettings: ["heif", "webp", "webpdemux"].map { .linkedLibrary($0) } + [
        .unsafeFlags(["-nostartfiles"])
      ]),
    .executableTarget(
      name: "richpush-exec", cSettings: strictC,
      linkerSettings: [.unsafeFlags(["-static-executable", "-nostartfiles"])]),

    module("Primitives"),
    module("JSON"),
    module("HTTP", on: ["CLibraries", "Primitives"]),
    module("MediaTypes", on: ["Primitives"]),
    module("S3", on: ["CCurl", "CLibraries", "Primitives"]),
    module("OpenID", on: ["CCurl", "CLibraries", "JSON", "Primitives"]),
    module("Store", on: ["S3", "CLibraries", "Primitives"]),
    module("Push", on: ["RichPushAPI", "CCurl", "CLibraries", "Primitives"]),
    module("PluginHost", on: ["CLibraries", "JSON", "Primitives"]),
    module(
      "PluginTester", on: ["PluginHost", "MediaTypes", "JSON", "Primitives", "CLibraries"],
      resources: [.embedInCode("Templates")]),
    module("RichPushAPI", on: ["JSON"]),
    module(
      "Media",
      on: ["Store", "PluginHost", "MediaTypes", "RichPushAPI", "Primitives", "CLibraries"]),
    module(
      "Intake",
      on: ["Media", "Store", "PluginHost", "MediaTypes", "RichPushAPI", "Primitives", "CLibraries"]),
    module(
      "Delivery",
      on: ["Intake", "Media", "Store", "Push", "PluginHost", "RichPushAPI", "Primitives"]),
    module("Console", resources: [.embedInCode("Files")]),
    module("WebApp", resources: [.embedInCode("Files")]),
    module("PageParts", resources: [.embedInCode("Files")]),
    module(
      "Origin",
      on: [
        "WebApp", "Console", "PageParts", "Delivery", "Intake", "Media", "Store", "Push", "OpenID",
        "PluginHost", "HTTP", "MediaTypes", "RichPushAPI", "Primitives", "CLibraries",
      ],
      resources: [
        .embedInCode("openapi.json"), .embedInCode("Compatibility/Ntfy/emoji.txt"),
        .embedInCode("Compatibility/Webhooks/Templates"),
      ]),
    module(
      "RichPushClient",
      on: ["RichPushAPI"]
        + ["CCurl", "Primitives"].map { .target(name: $0, condition: .when(platforms: [.linux])) }),
    module("PluginKit", on: ["Primitives"]),
    module("Imaging", on: ["CCodecs", "MediaTypes", "Primitives"], settings: optimized),
    .executableTarget(
      name: "richpush",
      dependencies: [
        "Origin", "Delivery", "Intake", "Media", "PluginTester", "PluginHost", "RichPushAPI",
        "RichPushClient", "MediaTypes", "Primitives",
      ],
      swiftSettings: strict),

    plugin("img", on: ["Imaging", "MediaTypes", "PluginKit", "Primitives"]),
    plugin("sound", on: ["CSound", "Imaging", "MediaTypes", "PluginKit", "Primitives"]),
    plugin("url", on: ["CCurl", "JSON", "MediaTypes", "PluginKit", "Primitives"]),
    plugin("video", on: ["Imaging", "JSON", "MediaTypes", "PluginKit", "Primitives"]),

    tests(of: "Primitives"),
    tests(of: "JSON", on: ["Primitives"]),
    .systemLibrary(name: "GnuTLS", path: "Tests/GnuTLS"),
    tests(of: "HTTP", on: ["GnuTLS", "Primitives"]),
    tests(of: "MediaTypes"),
    .target(
      name: "Waiting", dependencies: ["Primitives"], path: "Tests/Waiting", swiftSettings: strict),
    .target(
      name: "StandIns", path: "Tests/StandIns", exclude: ["Services"], swiftSettings: strict),
    tests(of: "S3", on: ["Primitives"]),
    tests(of: "Store", on: ["S3"]),
    tests(of: "Push", on: ["RichPushAPI", "Primitives"]),
    tests(of: "PluginHost", on: ["Primitives", "richpush-exec"]),
    .target(
      name: "TestSupport",
      dependencies: [
        "Origin", "Media", "Store", "PluginHost", "HTTP", "Primitives", "StandIns", "Waiting",
      ],
      path: "Tests/TestSupport", swiftSettings: strict),
    tests(
      of: "Media", on: ["Store", "PluginHost", "RichPushAPI", "TestSupport", "richpush-exec"]),
    tests(
      of: "Intake",
      on: [
        "Media", "Store", "PluginHost", "Primitives", "RichPushAPI", "TestSupport", "richpush-exec",
      ]),
    tests(
      of: "Delivery",
      on: [
        "Intake", "Media", "Store", "Push", "PluginHost", "HTTP", "RichPushAPI", "TestSupport",
        "richpush-exec",
      ]),
    tests(
      of: "Origin",
      on: [
        "WebApp", "Console", "PageParts", "Delivery", "Intake", "Media", "Store", "Push", "OpenID",
        "PluginHost", "HTTP", "JSON", "RichPushAPI", "Primitives", "TestSupport", "richpush-exec",
      ]),
    tests(of: "RichPushAPI"),
    tests(of: "RichPushClient", on: ["RichPushAPI", "CCurl"]),
    tests(of: "PluginKit", on: ["Primitives"]),
    tests(
      of: "Imaging", on: ["MediaTypes", "img", "img-decode"],
      exclude: ["Fixtures/pngs.py", "Independent"],
      settings: optimized),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "RichPushClient", "MediaTypes", "PluginHost", "PluginTester", "StandIns", "Waiting",
        "richpush", "richpush-exec", "img", "img-decode", "sound", "video", "url",
      ],
      exclude: [
        "App", "Compatible/Clients", "Console", "Plugins/Attacks", "Plugins/Films",
        "Plugins/OldKernel", "Plugins/Sounds",
        "Push/subscribe_button.py", "SingleSignOn", "checks.py",
      ],
      swiftSettings: strict),
    .testTarget(name: "ArchitectureTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6])
