import Foundation
import StandIns

extension StartedProgram {
  /// Runs only the tests with this name, in another process of this program, which `words` may start.
  ///
  /// Without `output` what it prints is discarded.
  static func tests(
    named name: String, environment: [String: String], by words: [String] = [],
    output: FileHandle? = nil
  ) throws -> StartedProgram {
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let all = words + [program, "--testing-library", "swift-testing", "--filter", name]
    let nowhere = FileHandle(forWritingAtPath: "/dev/null")
    return try StartedProgram(
      all[0], Array(all.dropFirst()), environment: environment, output: output ?? nowhere,
      errors: nowhere)
  }
}
