/// The files of the recipients' app, which the build embeds in the program.
///
/// They are a page, a style sheet, scripts without dependencies and a service worker; they use the public API alone. Each is
/// described in its first line; `main.js` is where to start reading.
package enum AppFiles {
  /// The files by their names.
  package static let all: KeyValuePairs<String, [UInt8]> = [
    "answers.js": PackageResources.answers_js,
    "app.css": PackageResources.app_css,
    "apple-touch-icon.png": PackageResources.apple_touch_icon_png,
    "client.js": PackageResources.client_js,
    "colour.js": PackageResources.colour_js,
    "dates.js": PackageResources.dates_js,
    "day-list.js": PackageResources.day_list_js,
    "device.js": PackageResources.device_js,
    "devices.js": PackageResources.devices_js,
    "dom.js": PackageResources.dom_js,
    "icon-192.png": PackageResources.icon_192_png,
    "icon-512.png": PackageResources.icon_512_png,
    "icon-maskable-512.png": PackageResources.icon_maskable_512_png,
    "inbox.js": PackageResources.inbox_js,
    "index.html": PackageResources.index_html,
    "inside.css": PackageResources.inside_css,
    "inside.js": PackageResources.inside_js,
    "install.js": PackageResources.install_js,
    "item.js": PackageResources.item_js,
    "main.js": PackageResources.main_js,
    "media.js": PackageResources.media_js,
    "notifications.js": PackageResources.notifications_js,
    "offline.js": PackageResources.offline_js,
    "platform.js": PackageResources.platform_js,
    "push-card.js": PackageResources.push_card_js,
    "richpush-worker.js": PackageResources.richpush_worker_js,
    "settings.js": PackageResources.settings_js,
    "sign-out.js": PackageResources.sign_out_js,
    "start.js": PackageResources.start_js,
    "subscribe.js": PackageResources.subscribe_js,
    "welcome.js": PackageResources.welcome_js,
    "worker.js": PackageResources.worker_js,
  ]
}
