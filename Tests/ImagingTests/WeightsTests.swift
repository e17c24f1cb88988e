import Testing

import MediaTypes
@testable import Imaging

@Suite struct WeightsTests {
  @Test(arguments: [1.0, 1.37, 1.9, 4, 25.2, 400], [Kernel.lanczos, .area])
  func `the weights of each sample add up to one`(step: Double, kernel: Kernel) {
    let inputs = Int(step * 50)
    let weights = Weights(50, from: inputs, origin: 0, step: step, kernel: kernel, multiple: 8)
    for index in 0..<50 {
      let row = weights.values[index * weights.taps..<(index + 1) * weights.taps]
      #expect(row.reduce(0) { $0 + Int($1) } == 16384)
      #expect(Int(weights.starts[index] + weights.counts[index]) <= inputs)
    }
  }

  @Test func `an area is made of what it covers, by how much`() {
    let weights = Weights(2, from: 5, origin: 0, step: 2.5, kernel: .area, multiple: 1)
    #expect(weights.starts == [0, 2] && weights.counts == [3, 3])
    #expect(weights.values == [6554, 6553, 3277, 3277, 6553, 6554])
    let same = Weights(9, from: 9, origin: 0, step: 1, kernel: .area, multiple: 1)
    #expect(same.starts == Array(0..<9) && same.counts.allSatisfy { $0 == 1 })
  }

  @Test func `at its own size a plane comes out as it went in`() {
    let plane = Canvas.scene(37, 23).plane(channels: 3)
    let same = plane.shrunk(to: plane.size, across: 1, down: 1)
    #expect(same.samples.elementsEqual(plane.samples))
  }

  @Test func `a plain colour stays what it is at any size`() {
    let plane = Canvas(size: PixelSize(501, 333)) { _, _ in (255, 131, 1, 255) }.plane(channels: 4)
    let small = plane.shrunk(to: PixelSize(7, 5), across: 501 / 7, down: 333 / 5)
    for x in 0..<7 { #expect(Array(small.samples[x * 4..<x * 4 + 4]) == [255, 131, 1, 255]) }
  }
}
