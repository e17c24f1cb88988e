"""The app can be put on a screen, under the operator's name and icon."""

from PIL import Image
from playwright.sync_api import expect

from app_server import serving, until


def expect_installable(phone):
    """Chromium has nothing against installing the page that is open, and can read all of its manifest."""
    cdp = phone.context.new_cdp_session(phone.page)
    errors = lambda: cdp.send("Page.getInstallabilityErrors")["installabilityErrors"]
    until(lambda: not errors(), lambda: f"it cannot be installed: {errors()}")
    manifest = cdp.send("Page.getAppManifest")
    assert manifest["url"] and manifest["errors"] == [], manifest
    assert cdp.send("Page.getAppId")["appId"] == phone.server.app


def manifest_of(phone):
    return phone.page.evaluate("fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())")


def sizes(phone, manifest):
    """The pixels of each icon, as the browser decodes it, with its purpose."""
    return phone.page.evaluate(
        """icons => Promise.all(icons.map(async ({ src, sizes, purpose }) => {
             const image = await createImageBitmap(await (await fetch(new URL(src, new URL("manifest.webmanifest", location)))).blob());
             return [sizes, `${image.width}x${image.height}`, purpose ?? "any"];
           }))""", manifest["icons"])


def check_chromium_would_install_it(bench):
    with bench.window(bench.server) as phone:
        phone.page.goto(bench.server.app)
        expect_installable(phone)
        manifest = manifest_of(phone)
        assert manifest["id"] == "/app/" and manifest["name"] == "richpush" and manifest["display"] == "standalone", manifest
        found = sizes(phone, manifest)
        assert all(named == real for named, real, _ in found), found
        assert {("192x192", "any"), ("512x512", "any"), ("512x512", "maskable")} <= {(named, purpose) for named, _, purpose in found}, found
        # Long presses lead on.
        assert manifest["shortcuts"], manifest
        touch = phone.page.evaluate(
            """async () => {
                 const image = await createImageBitmap(await (await fetch(document.querySelector("link[rel=apple-touch-icon]").href)).blob());
                 const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
                 context.drawImage(image, 0, 0);
                 const { data } = context.getImageData(0, 0, image.width, image.height);
                 return [image.width, image.height, data.filter((value, index) => index % 4 === 3).every((alpha) => alpha === 255)];
               }""")
        assert touch == [180, 180, True], touch


def check_name_colour_and_icon_are_the_operators(bench):
    icon = bench.server.folder / "icon.png"
    Image.new("RGB", (640, 640), "#b00020").save(icon)
    flags = ["--app-name", "Café am Markt", "--app-colour", "#b00020", "--app-icon", icon]
    with serving(bench.server.program.parent, *flags, has_users=False) as server, bench.window(server) as phone:
        phone.page.goto(server.app)
        expect_installable(phone)
        manifest = manifest_of(phone)
        assert manifest["name"] == "Café am Markt" and manifest["theme_color"] == "#b00020", manifest
        found = sizes(phone, manifest)
        assert found and all(named == real == "640x640" for named, real, _ in found), found
        expect(phone.page.locator("h1")).to_have_text("Welcome to Café am Markt")
        expect(phone.page).to_have_title("Café am Markt")


def check_the_address_of_the_server_leads_to_the_app_and_the_earlier_page_does(bench):
    phone = bench.phone("")
    for path in ["/", "/push/", "/push/#7"]:
        phone.page.goto(bench.server.url + path)
        expect(phone.page.locator("h1")).to_have_text("Welcome to richpush")
        assert phone.page.url.startswith(bench.server.app), phone.page.url
