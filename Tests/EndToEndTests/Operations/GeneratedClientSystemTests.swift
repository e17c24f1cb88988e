import Foundation
import Testing

/// A client that a generator made of `/api/openapi.json`, against the server that it describes.
@Suite(.timeLimit(.minutes(10))) struct GeneratedClientSystemTests {
  @Test func `a generated client publishes, fetches and manages, with nothing written by hand`()
    async throws
  {
    try await RunningServer.lend { server in
      let folder = server.scratch.folder.appending(path: "generated")
      let description = try server.get("/api/openapi.json", RunningServer.credentials("alice"))
      let file = try server.scratch.drop(description.body, as: "generated/openapi.json")
      let settings = try server.scratch.drop(Array("post_hooks: []".utf8), as: "generated/c.yaml")
      let generated = try await Tool.run(
        "openapi-python-client",
        [
          "generate", "--path", file.path, "--output-path", folder.path + "/richpush_client",
          "--meta", "none", "--fail-on-warning", "--config", settings.path,
        ])
      #expect(generated.exitCode == 0, "\(generated.output.joined(separator: "\n"))")
      let used = try await Tool.run(
        "python", ["-c", Self.program, server.endpoint.absoluteString],
        environment: ["PYTHONPATH": folder.path], input: Package.bytes("assets/img/logo.png"))
      #expect(used.exitCode == 0, "\(used.errors)")
    }
  }

  /// Every operation but the streams; `typed` refuses a problem, and a member that is not described.
  private static let program = #"""
    import base64, datetime, io, json, sys
    from richpush_client import AuthenticatedClient
    from richpush_client.api.assets import (
        get_asset, list_assets, list_assets_of_type, remove_asset, upload_asset)
    from richpush_client.api.devices import register_device, remove_device, update_device
    from richpush_client.api.media import get_media, get_signed_media, head_media
    from richpush_client.api.notifications import (
        change_notification, create_notification, get_notification, list_notifications,
        mark_notification_read, withdraw_notification)
    from richpush_client.api.server import check_health, check_readiness, get_description, get_metrics
    from richpush_client.models import (
        Asset, MediaFacts, NewNotification, NotificationPatch, Platform, Problem, Profile, PushForm,
        Registration)
    from richpush_client.types import File

    server = AuthenticatedClient(
        base_url=sys.argv[1], prefix="Basic", token=base64.b64encode(b"alice:alice").decode(),
        raise_on_unexpected_status=True, headers={"Accept": "application/json"})
    picture = sys.stdin.buffer.read()

    def typed(value):
        assert not isinstance(value, Problem), value
        for member in getattr(value, "__attrs_attrs__", ()):
            inner = getattr(value, member.name)
            if member.name == "additional_properties":
                assert not inner or isinstance(value, (Asset, MediaFacts)) or all(
                    isinstance(link, str) for link in inner.values()), value
            for one in inner if isinstance(inner, list) else [inner]:
                typed(one)
        return value

    tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    new = NewNotification(
        message="Look", rich_type="img", payload="logo.png", to=["username:alice"],
        form=PushForm.ALERT, badge=True, expires=tomorrow)
    answers = [
        create_notification.sync_detailed(client=server, body=new, idempotency_key="first")
        for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200], answers
    first, again = [typed(answer.parsed) for answer in answers]
    assert first == again and first.reach.users == 1, answers

    media = get_media.sync_detailed(first.id, client=server, profile=Profile.THUMB)
    assert media.parsed.payload.read().startswith(b"\x89PNG"), media
    assert media.headers["content-security-policy"] == "default-src 'none'; sandbox", media
    assert head_media.sync_detailed(first.id, client=server).status_code == 200
    inbox = typed(list_notifications.sync(client=server, unread=True))
    assert [entry.id for entry in inbox.notifications] == [first.id] and inbox.unread == 1, inbox
    # What a client sends unasked is no contradiction of what it is asked for.
    sent = list_notifications.sync_detailed(client=server, sent="", limit=1)
    assert sent.status_code == 200, sent
    details = typed(get_notification.sync(first.id, client=server))
    address = details.links["original"]
    query = dict(pair.split("=") for pair in address.partition("?")[2].split("&"))
    original = typed(get_signed_media.sync(first.id, "original", client=server, **query))
    assert original.payload.read() == picture
    assert mark_notification_read.sync_detailed(first.id, client=server).status_code == 204
    assert typed(list_notifications.sync(client=server, unread=True)).notifications == []

    held = typed(create_notification.sync(client=server, body=NewNotification(
        message="Later", rich_type="img", payload="logo.png", to="username:alice",
        not_before=tomorrow)))
    change = NotificationPatch(message="Changed")
    assert typed(change_notification.sync(held.id, client=server, body=change)).message == "Changed"
    assert withdraw_notification.sync_detailed(held.id, client=server).status_code == 204
    missing = get_media.sync(held.id, client=server)
    assert isinstance(missing, Problem) and missing.status == 404 and missing.detail, missing

    device = typed(register_device.sync(client=server, handle="ABCD"))
    reached = typed(update_device.sync(device, client=server, body=Registration(
        platform=Platform.APNS, handle="ABCD", tags=["news"])))
    assert reached.deliverable and reached.service == "embedded" and reached.reason is None, reached
    unreached = typed(update_device.sync(device, client=server, body=Registration(
        platform=Platform.GCM, handle="ABCD")))
    assert not unreached.deliverable and "do not send to gcm" in unreached.reason, unreached
    assert remove_device.sync_detailed(device, client=server).status_code == 200

    uploaded = typed(upload_asset.sync(
        "img", "new.png", client=server, body=File(payload=io.BytesIO(picture))))
    assert uploaded == typed(get_asset.sync("img", "new.png", client=server)), uploaded
    assert typed(list_assets.sync(client=server)).counts.ready >= 1
    assert "new.png" in [asset.name for asset in typed(
        list_assets_of_type.sync("img", client=server)).assets]
    assert remove_asset.sync_detailed("img", "new.png", client=server).status_code == 204

    assert check_health.sync(client=server) == check_readiness.sync(client=server) == "ok\n"
    assert "richpush_" in get_metrics.sync(client=server)
    assert get_description.sync(client=server)["info"]["title"] == "richpush"
    """#
}
