import Shared
import SwiftUI

/// Before this phone belongs to anybody: a link that was opened or pasted, or the short code.
struct PairingView: View {
  @EnvironmentObject private var model: InboxModel
  @State private var text = ""
  @State private var server = ""
  @State private var isBusy = false

  private var link: PairingLink? {
    model.offered ?? PairingLink(text) ?? PairingLink(server: server, code: text)
  }

  var body: some View {
    NavigationStack {
      Form {
        if let offered = model.offered {
          Text("Set up this phone with \(offered.server.host ?? "this server")?")
        } else {
          Section("The link, or the code and the server") {
            TextField("https://push.example/app/#pair=…", text: $text)
            TextField("push.example", text: $server)
          }
          .textInputAutocapitalization(.never).autocorrectionDisabled()
        }
        if let problem = model.problem { Text(problem).foregroundStyle(.red) }
        // Never without a press: messengers open links, too.
        Button("Set up this phone") {
          guard let link else { return }
          isBusy = true
          Task {
            await model.pair(link)
            isBusy = false
          }
        }
        .disabled(link == nil || isBusy)
      }
      .navigationTitle("Notifications")
    }
  }
}
