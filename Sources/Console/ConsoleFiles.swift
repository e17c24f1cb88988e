/// The files of the console, which the build embeds in the program.
///
/// They are a page, style sheets and ES modules without dependencies; they use the public API alone. Each is described in
/// its first line; `main.js` is where to start reading.
package enum ConsoleFiles {
  /// The files by their names.
  package static let all: KeyValuePairs<String, [UInt8]> = [
    "index.html": PackageResources.index_html,
    "icon.svg": PackageResources.icon_svg,
    "base.css": PackageResources.base_css,
    "screens.css": PackageResources.screens_css,
    "devices.css": PackageResources.devices_css,
    "main.js": PackageResources.main_js,
    "texts.js": PackageResources.texts_js,
    "dom.js": PackageResources.dom_js,
    "api.js": PackageResources.api_js,
    "live.js": PackageResources.live_js,
    "format.js": PackageResources.format_js,
    "screen.js": PackageResources.screen_js,
    "paged-table.js": PackageResources.paged_table_js,
    "sign-in.js": PackageResources.sign_in_js,
    "catalogue.js": PackageResources.catalogue_js,
    "asset-card.js": PackageResources.asset_card_js,
    "asset-dialog.js": PackageResources.asset_dialog_js,
    "asset-picker.js": PackageResources.asset_picker_js,
    "media-view.js": PackageResources.media_view_js,
    "drop.js": PackageResources.drop_js,
    "uploads.js": PackageResources.uploads_js,
    "conflict-dialog.js": PackageResources.conflict_dialog_js,
    "compose.js": PackageResources.compose_js,
    "kept-draft.js": PackageResources.kept_draft_js,
    "send-dialog.js": PackageResources.send_dialog_js,
    "audience.js": PackageResources.audience_js,
    "previews.js": PackageResources.previews_js,
    "sent.js": PackageResources.sent_js,
    "counts-bar.js": PackageResources.counts_bar_js,
    "notification.js": PackageResources.notification_js,
    "services.js": PackageResources.services_js,
    "plugins.js": PackageResources.plugins_js,
    "people.js": PackageResources.people_js,
    "device-table.js": PackageResources.device_table_js,
    "account.js": PackageResources.account_js,
  ]
}
