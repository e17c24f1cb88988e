@main
struct RichPush {
  static func main() {}
}
