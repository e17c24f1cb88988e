import Testing

@Suite struct RoomTests {}
