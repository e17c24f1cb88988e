// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "Shared",
  platforms: [.iOS(.v16), .macOS(.v13)],
  products: [.library(name: "Shared", targets: ["Shared"])],
  // In an app of your own: .package(url: "https://git.example/richpush.git", exact: "0.2.0")
  dependencies: [.package(name: "richpush", path: "../../../..")],
  targets: [
    .target(
      name: "Shared", dependencies: [.product(name: "RichPushClient", package: "richpush")]),
    .testTarget(name: "SharedTests", dependencies: ["Shared"]),
  ])
