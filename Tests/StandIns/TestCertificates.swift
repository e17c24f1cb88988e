/// Two self-signed certificates, for one.test and two.test and a hundred years, with their keys, in PEM.
package enum TestCertificates {
  package static let one = (
    certificate: """
    -----BEGIN CERTIFICATE-----
    MIIBfTCCASKgAwIBAgITUjpvgahA+F5/+tstucz3kgKaKDAKBggqhkjOPQQDAjAT
    MREwDwYDVQQDDAhvbmUudGVzdDAgFw0yNjExMjIwMTI4NDFaGA8yMTI2MTAyOTAx
    Mjg0MVowEzERMA8GA1UEAwwIb25lLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMB
    BwNCAAQQoDoFiCZUdLo2lCtnr61SSe8Vea5fhiXIClCT1+gSoWP6tSfr+jY1VH+r
    2NGjIRvbg07tYFMmL4QdCM+jmAhzo1MwUTAdBgNVHQ4EFgQU5Zslodr4XWEozFLO
    TceIovaJY5UwHwYDVR0jBBgwFoAU5Zslodr4XWEozFLOTceIovaJY5UwDwYDVR0T
    AQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAi0AAqUQthoolXwSim2GXHOn9
    STXAEwMbN5Z2vkbXHv8CIQDkizasDo//mKtshemBV+Twm7Qc2tMc+evcCDXN1w4t
    Zw==
    -----END CERTIFICATE-----

    """,
    key: """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPq2qsiD+fjI7+l07
    onlnF1RPoAEDIeeid7SZtAJLqPuhRANCAAQQoDoFiCZUdLo2lCtnr61SSe8Vea5f
    hiXIClCT1+gSoWP6tSfr+jY1VH+r2NGjIRvbg07tYFMmL4QdCM+jmAhz
    -----END PRIVATE KEY-----

    """
  )

  package static let two = (
    certificate: """
    -----BEGIN CERTIFICATE-----
    MIIBfjCCASOgAwIBAgIUY5mwH7Iw8FQ3LlfctOXB7vCyTLAwCgYIKoZIzj0EAwIw
    EzERMA8GA1UEAwwIdHdvLnRlc3QwIBcNMjYxMTIyMDEyODQxWhgPMjEyNjEwMjkw
    MTI4NDFaMBMxETAPBgNVBAMMCHR3by50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
    AQcDQgAEV7YDonHYIYPxdNiMWb+Qs0udVpwYyJu4ogLrwJRWsO7aqPMgiYwEwxAp
    D+jbjtKTUAF/VkS5VrZevL6cbDebh6NTMFEwHQYDVR0OBBYEFLLiTKBYzQDVqJse
    Vx6CrcJV4oZFMB8GA1UdIwQYMBaAFLLiTKBYzQDVqJseVx6CrcJV4oZFMA8GA1Ud
    EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAO3/1ORG/Xbo38SP7dDJoV49
    2gZCr7vsVSTzN+E3TQOPAiEAs2esHovyticnSSUATZZdMOT0lB4eXUQinf9wcfum
    aTA=
    -----END CERTIFICATE-----

    """,
    key: """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGDR/64OnHxHmuca+
    FMm+wxZyinetblVO1yX1sQNb9ZyhRANCAARXtgOicdghg/F02IxZv5CzS51WnBjI
    m7iiAuvAlFaw7tqo8yCJjATDECkP6NuO0pNQAX9WRLlWtl68vpxsN5uH
    -----END PRIVATE KEY-----

    """
  )
}
