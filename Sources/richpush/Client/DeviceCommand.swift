/// `richpush device`: a phone without the glass.
enum DeviceCommand: Command {
  static let name = "device"
  static let summary = "plays a phone: registers, listens, fetches what each push names"
  static let help = "It is being built."
  static let options: [Option] = [
    .value("user", "NAME", "the user whose phone this is")
  ]

  static func run(_ arguments: Arguments) async throws {
    throw CommandLineError.failed("device is being built")
  }
}
