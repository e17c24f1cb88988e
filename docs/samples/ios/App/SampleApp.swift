import Shared
import SwiftUI

@main
struct SampleApp: App {
  @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate
  @StateObject private var model = InboxModel.shared
  @Environment(\.scenePhase) private var phase

  var body: some Scene {
    WindowGroup {
      Group {
        if model.device == nil { PairingView() } else { InboxView() }
      }
      .environmentObject(model)
      // A universal link, if the server's host says that this app opens it.
      .onOpenURL { model.offered = PairingLink($0.absoluteString) }
      .onContinueUserActivity(NSUserActivityTypeBrowsingWeb) { activity in
        model.offered = activity.webpageURL.flatMap { PairingLink($0.absoluteString) }
      }
    }
    .onChange(of: phase) { if $0 == .active { Task { await model.refresh() } } }
  }
}
