import Shared
import SwiftUI

/// The user's notifications, newest first.
struct InboxView: View {
  @EnvironmentObject private var model: InboxModel

  var body: some View {
    NavigationStack {
      List {
        if let problem = model.problem { Text(problem).foregroundStyle(.red) }
        ForEach(model.items) { ItemRow(item: $0) }
        if model.hasMore { Button("Show more") { Task { await model.loadMore() } } }
      }
      .overlay { if model.items.isEmpty { Text("No notifications").foregroundStyle(.secondary) } }
      .refreshable { await model.refresh() }
      .task { await model.refresh() }
      .navigationTitle("Notifications")
      .toolbar { Button("Sign out") { Task { await model.signOut() } } }
    }
  }
}

private struct ItemRow: View {
  let item: InboxItem
  @EnvironmentObject private var model: InboxModel
  @Environment(\.displayScale) private var scale
  @State private var picture: UIImage?
  @State private var asked: ButtonDescription?
  @State private var reply = ""

  var body: some View {
    VStack(alignment: .leading, spacing: 6) {
      Text(item.heading).fontWeight(item.isUnread ? .bold : .regular)
      ForEach(item.lines, id: \.self) { Text($0).font(.subheadline) }
      media
      Text(item.time, style: .relative).font(.caption).foregroundStyle(.secondary)
      if !item.buttons.isEmpty {
        HStack {
          ForEach(item.buttons) { button in
            Button(button.label, role: button.isDestructive ? .destructive : nil) {
              if case .ask = button.effect { asked = button } else { press(button) }
            }
            .buttonStyle(.bordered)
          }
        }
      }
    }
    .contentShape(Rectangle())
    .onTapGesture { Task { await model.open(item) } }
    .alert(question, isPresented: isAsking) {
      TextField("", text: $reply)
      Button("Send") { if let asked { press(asked, text: reply) } }
      Button("Cancel", role: .cancel) {}
    }
  }

  @ViewBuilder private var media: some View {
    switch item.media {
    case .picture(let ratio):
      Rectangle().fill(.quaternary).aspectRatio(ratio ?? 4 / 3, contentMode: .fit)
        .overlay { if let picture { Image(uiImage: picture).resizable().scaledToFit() } }
        .accessibilityLabel(item.mediaDescription ?? "")
        .task { picture = await model.picture(of: item, width: 360, scale: scale) }
    case .link(let url): Link(url.host ?? url.absoluteString, destination: url)
    case .film: Label(item.mediaDescription ?? "Video", systemImage: "film")
    case .sound: Label(item.mediaDescription ?? "Sound", systemImage: "waveform")
    case .other, nil: EmptyView()
    }
  }

  private var question: String {
    if case .ask(let question)? = asked?.effect { question } else { "" }
  }

  private var isAsking: Binding<Bool> {
    Binding(get: { asked != nil }, set: { if !$0 { asked = nil } })
  }

  private func press(_ button: ButtonDescription, text: String? = nil) {
    Task { await model.press(button, of: item, text: text) }
  }
}
