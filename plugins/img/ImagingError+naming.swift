import Imaging
import MediaTypes

extension ImagingError {
  /// The same, with what the file is and what to do where it is no picture that is read here.
  func naming(_ path: String) -> ImagingError {
    guard code == .unsupported else { return self }
    let sentence = OpenFile.reading(path) { file in
      file.map { FileKind($0).refusal(accepting: ["image/*"]) }
    }
    return sentence.map { ImagingError(code, $0) } ?? self
  }
}
