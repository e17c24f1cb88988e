"""Home Assistant's core with the platform notify.rest, as packaging/recipes/home-assistant.yaml sets it up."""

import asyncio
import os
import pathlib
import tempfile

from homeassistant import bootstrap, config_entries, core, loader
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import Secrets, load_yaml
from recipient import SETUP, run


async def call(*services):
    """Starts Home Assistant with the recipe, calls services of `notify`, and stops it."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ["HOME"]))
    recipe = pathlib.Path(SETUP.root, "packaging/recipes/home-assistant.yaml").read_text()
    assert "https://push.example" in recipe
    (folder / "configuration.yaml").write_text(recipe.replace("https://push.example", SETUP.server))
    (folder / "secrets.yaml").write_text(f"richpush: Bearer {SETUP.token}\n")
    home = core.HomeAssistant(str(folder))
    loader.async_setup(home)
    home.config_entries = config_entries.ConfigEntries(home, {})
    await bootstrap.async_load_base_functionality(home)
    configuration = load_yaml(str(folder / "configuration.yaml"), Secrets(folder))
    assert await async_setup_component(home, "notify", configuration)
    await home.async_start()
    await home.async_block_till_done()
    for name, data in services:
        await home.services.async_call("notify", name, data, blocking=True)
    await home.async_stop(force=True)


def check_a_text(alice):
    asyncio.run(call(("richpush", {"message": "The door is open 🦊", "title": "Door", "target": "news"}),
                     ("richpush", {"message": "No title"})))
    first, second = alice.gets(2)
    assert (first["message"], first["title"], first["to"]) == ("The door is open 🦊", "Door", ["news"]), first
    # Home Assistant itself gives a title to what has none.
    assert (second["message"], second["title"], second["to"]) == ("No title", "Home Assistant", ["news"]), second


def check_a_picture(alice):
    asyncio.run(call(("richpush_picture", {"message": "See", "title": "Door", "data": {"picture": "beach.jpg"}})))
    alice.expect_picture(alice.gets_one("See", title="Door", payload="beach.jpg"))


run(globals())
