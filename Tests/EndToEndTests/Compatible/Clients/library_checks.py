"""Libraries for Python that send to ntfy, Gotify and Bark."""

import bark_client
import gotify
import ntfpy
import ntfy_api
import python_ntfy
from recipient import PICTURE, SETUP, run, split

LINK = "https://a.example"


def refusal(action, *kinds):
    """What an action raises."""
    try:
        action()
    except kinds as error:
        return str(error)
    raise AssertionError("it was not refused")


def check_ntfy_api(alice):
    publisher = ntfy_api.NtfyPublisher(SETUP.ntfy, basic=(SETUP.publisher, SETUP.password))
    answer = publisher << ntfy_api.Message(
        topic="news", title="Title", message="text", priority=5, tags=["tada", "backup"], click=LINK,
        actions=[ntfy_api.ViewAction("Open, now", LINK + "/b")])
    said = answer.json()
    assert answer.status_code == 200 and said["reach"]["devices"] == 1 and len(said["id"]) == 12, said
    new = alice.gets_one("text", title="🎉 Title", importance="urgent", link=LINK)
    assert [(each["label"], each["link"]) for each in new["actions"]] == [("Open, now", LINK + "/b")], new
    assert new["data"] == {"tags": ["tada", "backup"]}, new


def check_ntfy_api_with_a_token(alice):
    publisher = ntfy_api.NtfyPublisher(SETUP.ntfy, bearer=SETUP.token)
    assert (publisher << ntfy_api.Message(topic="news", message="by token")).status_code == 200
    alice.gets_one("by token")
    answer = publisher << ntfy_api.Message(topic="other", message="no")
    assert answer.status_code == 403 and "other" in answer.json()["error"], answer.text


def check_ntfy_api_with_a_picture(alice):
    publisher = ntfy_api.NtfyPublisher(SETUP.ntfy, bearer=SETUP.token)
    with open(PICTURE, "rb") as file:
        answer = publisher << ntfy_api.Message(topic="news", filename="beach.jpg", data=file.read())
    assert answer.json()["attachment"]["type"] == "image/jpeg", answer.text
    alice.expect_picture(alice.gets_one("You received a file: beach.jpg", payload="beach.jpg"))


def check_ntfy_api_by_json(alice):
    publisher = ntfy_api.NtfyPublisher(SETUP.ntfy, bearer=SETUP.token)
    assert publisher.publish_json({"topic": "news", "message": "by JSON", "priority": 1}).status_code == 200
    alice.gets_one("by JSON", importance="min")
    answer = publisher << ntfy_api.Message(topic="news", message="no", email="a@example.org")
    assert answer.status_code == 400 and "e-mail" in answer.json()["error"], answer.text


def check_ntfpy(alice):
    auth = f"{SETUP.publisher}:{SETUP.token}"
    answer = ntfpy.raw_send(SETUP.ntfy, "news", "text 🦊", auth=auth, title="Title", tags=["skull"], click=LINK, priority=4)
    assert answer.status_code == 200 and answer.json()["message"] == "text 🦊", answer.text
    alice.gets_one("text 🦊", title="💀 Title", link=LINK, importance="high")
    answer = ntfpy.raw_send(SETUP.ntfy, "news", "no", auth=f"{SETUP.publisher}:wrong-secret")
    assert answer.status_code == 401 and answer.json()["code"] == 40101, answer.text


def check_python_ntfy(alice):
    client = python_ntfy.NtfyClient(topic="news", server=SETUP.ntfy, auth=(SETUP.publisher, SETUP.token))
    said = client.send("text 🦊", title="Title", priority=client.MessagePriority.HIGH,
                       actions=[client.ViewAction("Open", LINK)])
    assert said["event"] == "message", said
    new = alice.gets_one("text 🦊", title="Title", importance="high")
    assert new["actions"][0]["link"] == LINK, new
    said = client.send_file(PICTURE, title="File")
    assert said["attachment"]["type"] == "image/jpeg", said
    alice.expect_picture(alice.gets_one(title="File"))


def check_python_ntfy_with_a_token(alice):
    client = python_ntfy.NtfyClient(topic="news", server=SETUP.ntfy, auth=SETUP.token)
    assert client.send("by token")["event"] == "message"
    alice.gets_one("by token")


def check_gotify(alice):
    client = gotify.Gotify(base_url=SETUP.server, app_token=SETUP.token)
    said = client.create_message("text 🦊", title="Title", priority=8, extras={
        "client::notification": {"click": {"url": LINK}}, "home::lamp": {"on": True}})
    new = alice.gets_one("text 🦊", title="Title", importance="high", link=LINK, data={"home::lamp": {"on": True}})
    assert said["id"] == new["id"] and said["message"] == "text 🦊" and said["priority"] == 8, said
    client.create_message("only a text")
    alice.gets_one("only a text", title=None, importance=None)
    wrong = gotify.Gotify(base_url=SETUP.server, app_token="rpt_wrong")
    assert refusal(lambda: wrong.create_message("no"), gotify.GotifyError).startswith("401 ")
    assert "android::action is not supported" in refusal(
        lambda: client.create_message("no", extras={"android::action": {}}), gotify.GotifyError)


def check_bark_client(alice):
    client = bark_client.BarkClient(split(SETUP.server)[1], [SETUP.token])
    message = bark_client.PushMessage("text 🦊", title="Title", group="builds", url=LINK)
    assert client.batch_push(message) == []
    alice.gets_one("text 🦊", title="Title", thread="builds", link=LINK)
    options = bark_client.PushOptions(bark_client.SoundType.MINUET, bark_client.LevelType.PASSIVE)
    assert client.batch_push(bark_client.PushMessage("with options", options=options)) == []
    alice.gets_one("with options", sound="minuet.caf", importance="low")
    said, reason = client.push(bark_client.PushMessage("no"), "rpt_wrong")
    assert not said and reason


run(globals())
