import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// The console in Debian's Firefox, as far as browsers differ in it: fields for times, dropped files, what a tab keeps.
@Suite(.timeLimit(.minutes(5))) struct ConsoleFirefoxSystemTests {
  /// Waits in the page until something is there, and does something with it.
  private static let prelude = """
    const until = async (find) => {
      for (let turn = 0; turn < 1200; turn += 1) {
        const found = find();
        if (found) return found;
        await new Promise((done) => setTimeout(done, 25));
      }
      throw new Error(`there is no ${find}: ${document.body.innerText}`);
    };
    const one = (selector, text = "") => () =>
      [...document.querySelectorAll(selector)].find((found) => found.textContent.includes(text));
    const fill = (field, value) => { field.value = value; field.dispatchEvent(new Event("input", { bubbles: true })); };
    """

  private func run(_ page: FirefoxPage, _ script: String) throws -> JSONValue {
    try page.value("(async () => { \(Self.prelude)\n\(script) })()")
  }

  private func withConsole(_ body: (FirefoxPage) async throws -> Void) async throws {
    try #require(
      FileManager.default.isExecutableFile(atPath: "/usr/bin/firefox-esr"),
      "make test-system installs firefox-esr")
    let firefox = try StandIn("firefox")
    try await RunningServer.lend { server in
      let opened = try firefox.tell(["do": "open", "url": "\(server.endpoint)/console/"])
      #expect(opened["error"] == nil, "\(opened)")
      let page = FirefoxPage(firefox: firefox)
      _ = try run(
        page,
        """
        fill(await until(one("input[name=username]")), "shop");
        fill(document.querySelector("input[name=password]"), "shop");
        document.querySelector(".sign-in button").click();
        await until(one("asset-card", "beach.jpg"));
        """)
      try await body(page)
      try firefox.tell(["do": "reset"])
    }
  }

  @Test func `the whole time is to be seen, and what was typed is there after a reload`()
    async throws
  {
    try await withConsole { page in
      let missing = try run(
        page,
        """
        location.hash = "compose/img/beach.jpg";
        fill(await until(one("console-compose textarea")), "Half a thought");
        const field = document.querySelector("input[type=datetime-local]");
        fill(field, "2099-12-30T22:30");
        const whole = field.cloneNode();
        whole.value = field.value;
        whole.style.cssText = "width: max-content; max-width: none; position: absolute";
        field.after(whole);
        const missing = whole.offsetWidth - field.offsetWidth;
        whole.remove();
        await until(one(".chosen", "beach.jpg"));
        window.beforeReload = true;
        setTimeout(() => { location.hash = "compose"; location.reload(); }, 0);
        return missing;
        """)
      #expect((missing.integer ?? .max) <= 0, "\(missing)")
      try await eventually("the page has reloaded") {
        let kept = try? run(
          page,
          """
          if (window.beforeReload) return "not reloaded yet";
          await until(one(".chosen", "beach.jpg"));
          const time = document.querySelector("input[type=datetime-local]").value;
          return `${document.querySelector("textarea").value} ${time} ${location.hash}`;
          """)
        return kept?.text == "Half a thought 2099-12-30T22:30 #compose"
      }
      let faults = try run(
        page,
        """
        fill(document.querySelector("input[type=datetime-local]"), "2020-12-30T22:30");
        document.querySelector("form .main").click();
        await until(one("#fault-to", "at least one"));
        return document.querySelector("#fault-notBefore").textContent;
        """)
      #expect(faults.text?.hasPrefix("This time has passed") == true, "\(faults)")
    }
  }

  @Test func `a dropped file whose name is there is kept beside it`() async throws {
    try await withConsole { page in
      let name = try run(
        page,
        """
        const bytes = await (await fetch("../api/assets/img/logo.png/media")).arrayBuffer();
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], "beach.jpg", { type: "image/jpeg" }));
        document.querySelector("main").dispatchEvent(
          new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        (await until(one("dialog button", "Keep both"))).click();
        return (await until(one("asset-card .name", "beach (2)"))).textContent;
        """)
      #expect(name.text == "beach (2).jpg")
    }
  }
}
