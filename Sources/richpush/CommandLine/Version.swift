/// The version that `richpush --version` prints.
let version = "0.1.0"
