@testable import Store

extension WritingFunction {
  /// What each function adds to the audit log, in all its calls of the table together.
  ///
  /// A new function needs a line here, or in ``unaudited``.
  static let audited: [String: Set<AuditAction>] = [
    "addUser": [.userAdded],
    "setPassword": [.userPasswordChanged],
    "changePassword": [.userPasswordChanged, .sessionStarted],
    "setMaxDevices": [.userLimitChanged],
    "setAttributes": [.attributesChanged],
    "removeUser": [.userRemoved],
    "registration": [.deviceAdded],
    "putRegistration": [.deviceAdded, .deviceRemoved],
    "removeRegistration": [.deviceRemoved],
    "addToken": [.deviceTokenAdded],
    "removeTokens": [.deviceTokensRemoved],
    "addLinkKey": [.linkKeyAdded],
    "removeLinkKey": [.linkKeyRemoved],
    "removeTicketKeys": [.ticketKeysRemoved],
    "putUser": [.userRoleChanged],
    "removeUserUnlessLastAdmin": [.userRemoved],
    "endCredentials": [.userCredentialsEnded],
    "endSilentRegistrations": [.deviceRemoved],
    "addSession": [.sessionStarted],
    "removeSession": [.sessionEnded],
    "addAccessToken": [.tokenAdded],
    "removeAccessToken": [.tokenRemoved],
    "addWebhook": [.webhookAdded],
    "putSegment": [.segmentAdded, .segmentChanged],
    "removeSegment": [.segmentRemoved],
    "addPairing": [.pairingAdded],
    "endPairing": [.pairingRemoved],
    "redeemPairing": [.deviceAdded],
    "signUp": [.userSignedUp],
    "approveSignUp": [.userApproved],
    "refuseSignUp": [.userRemoved],
    "create": [.notificationSent],
    "decide": [.notificationApproved],
    "amend": [.notificationAmended],
    "withdraw": [.notificationWithdrawn],
    "replay": [.pushReplayed],
    "cancel": [.pushCancelled],
    "resume": [.serviceResumed],
    "restoreRegistrations": [.serviceDevicesRestored],
    "putAsset": [.assetAdded],
    "describe": [.assetDescribed],
    "renameAsset": [.assetRenamed],
    "removeAsset": [.assetRemoved],
    "addAuditEntries": [.serverStarted],
    "addFailedSignIn": [.signInFailed],
    "removeAbandonedSignUps": [.userRemoved],
    "beginErasure": [.userRemoved],
    "signIn": [.userAdded, .sessionStarted, .userRoleChanged],
    "link": [.userLinked],
    "unlink": [.userUnlinked],
    "endSessions": [.sessionEnded],
  ]

  /// Whose the objects of the entries are that a function adds, beside users, who are their own.
  static let owners: [String: Set<String>] = [
    "registration": ["alice"],
    "putRegistration": ["alice", "bob"],
    "removeRegistration": ["alice"],
    "addToken": ["alice"],
    "removeTokens": ["alice"],
    "changePassword": ["changing"],
    "addSession": ["alice", "bob"],
    "removeSession": ["carol"],
    "addAccessToken": ["alice"],
    "removeAccessToken": ["carol"],
    "addWebhook": ["alice"],
    "addPairing": ["alice"],
    "endPairing": ["carol"],
    "redeemPairing": ["alice"],
    "create": ["shop"],
    "decide": ["shop"],
    "amend": ["shop"],
    "withdraw": ["shop"],
    "signIn": ["ida", "igor"],
    "endSessions": ["ivan"],
  ]

  /// Functions that may find nothing to change in the table; `AuditLogTests` have them with something.
  static let mayChangeNothing: Set = ["endSilentRegistrations", "restoreRegistrations"]

  /// Functions that add nothing to the audit log: what nobody does, such as clean-up; what a device does with its own
  /// notifications and settings, a million times a second; and drafts, which reach nobody.
  static let unaudited: Set = [
    "userIDs", "audience", "changeSettings", "device", "ticketKeys", "sessionUser", "recordUse",
    "keep", "removeDelivery", "addDraft", "changeDraft", "removeDraft", "forwardPairing",
    "announce", "hold", "markRead", "setHidden", "record", "add", "recordSent", "recordFetched",
    "writeNextParts", "completeAudience", "settleAndLease", "begin", "failJobsOfRemovedDevices",
    "explain", "push", "releaseHeldEvents", "createCursor", "setCursor", "finishPreparing",
    "addFileRemoval", "takeFileRemoval", "probe", "removeStamp", "removeVersion",
    "removeAssetVersions", "removeExpiredNotifications", "removeEndedSessions",
    "removeEndedRegistrations", "removeExpiredAccessTokens", "removeFailedDeliveries",
    "removeExpiredPairings", "removeDailyPushes", "removeHistory", "removeEvents",
    "removeAuditEntries", "removePasswordlessUsers", "removeNotifications", "removeReceipts",
    "eraseRecords", "eraseRemovedRows", "removeUnreferencedFiles", "endErasure",
    "removeErasedContent", "addErasedObjects", "endErasedObjects",
  ]
}
