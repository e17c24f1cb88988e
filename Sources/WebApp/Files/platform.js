// What this browser is, what it can do, and which words it needs.

const agent = navigator.userAgent;
const isAppleTouch = /iPhone|iPad|iPod/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1);

/** The version of iOS; since 26 only Safari's own version tells it. */
const iosVersion = () => {
  const found = /Version\/(\d+)\.(\d+)/.exec(agent) ?? / OS (\d+)_(\d+)/.exec(agent);
  return found ? Number(found[1]) + Number(found[2]) / 100 : 0;
};

const browserName = () =>
  /FxiOS|Firefox\//.test(agent) ? "Firefox"
  : /EdgiOS|EdgA|Edg\//.test(agent) ? "Edge"
  : /OPR\//.test(agent) ? "Opera"
  : /SamsungBrowser/.test(agent) ? "Samsung Internet"
  : /CriOS|Chrome\//.test(agent) ? "Chrome"
  : /Safari\//.test(agent) ? "Safari" : "Browser";

const systemName = () =>
  /iPad/.test(agent) || (isAppleTouch && /Macintosh/.test(agent)) ? "iPad"
  : isAppleTouch ? "iPhone"
  : /Android/.test(agent) ? "Android"
  : /Windows/.test(agent) ? "Windows"
  : /Macintosh/.test(agent) ? "Mac"
  : /CrOS/.test(agent) ? "Chromebook"
  : /Linux/.test(agent) ? "Linux" : "";

/** {kind: "ios" | "android" | "desktop", browser, system, version, isInstalled, isPhone} */
export const platform = (() => {
  const browser = browserName();
  const system = systemName();
  const kind = isAppleTouch ? "ios" : system === "Android" ? "android" : "desktop";
  const isInstalled = navigator.standalone === true || matchMedia("(display-mode: standalone), (display-mode: fullscreen), (display-mode: minimal-ui)").matches;
  return { kind, browser, system, isInstalled, version: kind === "ios" ? iosVersion() : 0, isPhone: kind !== "desktop" };
})();

/** An iPhone or iPad has pushes, and keeps what a page stores, only in an app on the Home Screen. */
export const needsHomeScreen = platform.kind === "ios" && !platform.isInstalled;

export const hasPush = "serviceWorker" in navigator && "PushManager" in self && "Notification" in self;

/** What a device calls itself before anybody has named it: "iPhone", "Chrome, Windows". */
export const deviceName = platform.kind === "ios" ? platform.system : [platform.browser, platform.system].filter(Boolean).join(", ");

/** How a picture of this width is asked for: in pixels of the screen, in steps, so that few renditions are made. */
export const pictureWidth = (cssWidth) => {
  const pixels = Math.min(1920, Math.ceil(cssWidth * Math.min(3, devicePixelRatio || 1)));
  return [320, 480, 640, 800, 960, 1120, 1280, 1440, 1600, 1920].find((step) => step >= pixels) ?? 1920;
};

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
