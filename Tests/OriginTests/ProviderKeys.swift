/// Keys of providers, which protect nothing but tests.
enum ProviderKeys {
  /// A private key with its public one, as a provider publishes it.
  struct Pair: Sendable {
    let pem: String
    /// Members of a JSON Web Key, without its name.
    let members: String
  }

  static let rsa = Pair(
    pem: """
      -----BEGIN PRIVATE KEY-----
      MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCx59DL+wLJT22b
      YYLBiiD/3qHzVed6zodgByK+tdAPwdzzPmvKzpfX7dmwIo7OcXbQdYY1dYCpQx2G
      fALZF8eywdEQeq3/L3i5gB29LB5W+OSoWNmLCrv1Yq4rUfXGa/uTGgnOGYEFPH4Z
      jHRwMeC7So5olDhlEOOO7pRvp1yFWRIt5ss6VFXk5hBLs6XMU43pivYjhUkigIZ5
      CfRlT6HtZ5cd/g02rTGHuBXjOeToBxxJdo/HR9dFSTNELXL22dAPPh1Ldfi/W1JF
      kVfi8D0+DSNEQnaGUmdqy2rJcf6G2tFSclT0x7zhfVp/31psaG2ALI6hsbzowtCJ
      IuZmQhxzAgMBAAECggEAPTHfKXsTL0nqCuuUvZwU086x6HDhKeYGvOpXckA57GGj
      7evHykAcDQNcwPByLOLsmrICUzsy4YYbjtnzZNeAMqXmkwOP/FpI7Y37LMoTOZlt
      ldbSJbiwhKzH+lC7+N/F7oijXMh7D+EKAyHEH5+YjPQNXj211FXl4JGCb5GjCp7Q
      7HIwgxrM1cFwWGpsJydkIjYqjz0GnI8OogbsK6/omddh5G8of5hjh4PfCACDDuSw
      MfnEsK0bpipTLGI4z5ZHsTlBM6wHYtzN3HuTsk9bj5Z812jBXj+3HBOHxxHlGosK
      OwZzLl2FOjFamvwy4Y/Yj35j0X/cdkfDuyUT8NduYQKBgQDdt/ltFSxW+2xfQ6we
      BkF/YwSRvLwrdxaguLGqsp/NnwSI6Aes8mSwppZFPg5dqV4FxdqEcPVPnoXOOQUr
      d6tKu6CqKKvplFeXDVAhlyk4tvkO8vHfm/s+icFr6EcqkcEZAtM2OJmtHcaWVM1Q
      kNy+/cU7eaN1H0T4Nt9Q9Y3t0QKBgQDNaaN/ONgYV+MqZThSKp9Vm5B6nul7f4mc
      4OKUdZ/TSXhORcIVA0hGX79uXwRzjHmnEcPrVKqsC2auCzLCPEVMRJpYPtvgU1Cr
      /9Uw6h1TSFu4T9fU38RbCoyxwO5dwifN12X/JQLhCZqd6skzwLyuhzsCh5NLaHZz
      uvJLxjjjAwKBgA6wf7AAdR2WLsno++BJXdGIx+a38GeYzkD7u5mpl/jRjkVbyhZl
      QNKLVu1jfSQrcnVDdITNzxLlV8wf7v3AQfMDl1NuumURVPRHB4YSM8L0LHAXHHtK
      JE0yZ0Q08XIakgaML14qRdQ4Ys3W9Htf/aARxB16o5/A4JrpV8ZPXoXhAoGAWGcn
      a0BemBNy+7L2Sz52tlQuGOe9Wl4oLnEGcpgwwbDz6tPQ1FRGTas1at3Pv57sWD+o
      DuawUTzS4wKExN1Fga5gsqvS2zdgF7YR3WxUVJxmhOsv2zi2e+wNYw7CR22gzdDu
      36DhHVKRzXbXQsOnMIGYnt0UQjbiC6qgToYvw1sCgYEAocVYjKJBEsH+Q5tt7RDT
      IvXsIYKIbzKqghONxFEtVp7WQqA8lqqy+u7i8oyeRLsKr4AURnXCbhh6m7/U2A54
      aFlJcrzR0Ywbaw1Khw05tlqaK+Qv4b8raqQdjdjxCNdH0fUKaGZXWeQpTObGWQ6G
      lPEkpLEXw4AOpxF/0ZZ9SZ4=
      -----END PRIVATE KEY-----
      """,
    members:
      #""kty":"RSA","e":"AQAB","n":"sefQy_sCyU9tm2GCwYog_96h81Xnes6HYAcivrXQD8Hc8z5rys6X1-3ZsCKOznF20HWGNXWAqUMdhnwC2RfHssHREHqt_y94uYAdvSweVvjkqFjZiwq79WKuK1H1xmv7kxoJzhmBBTx-GYx0cDHgu0qOaJQ4ZRDjju6Ub6dchVkSLebLOlRV5OYQS7OlzFON6Yr2I4VJIoCGeQn0ZU-h7WeXHf4NNq0xh7gV4znk6AccSXaPx0fXRUkzRC1y9tnQDz4dS3X4v1tSRZFX4vA9Pg0jREJ2hlJnastqyXH-htrRUnJU9Me84X1af99abGhtgCyOobG86MLQiSLmZkIccw""#
  )

  /// Another one, which the provider does not know.
  static let otherRSA = Pair(
    pem: """
      -----BEGIN PRIVATE KEY-----
      MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQC8sbb7Ecec2/Rr
      kAYerlLSUTS4DxT8dArKG8veRiHU+G/FOOSJsRg8+T0FYR0HljemQuL8aUHZsziT
      pxb4TBDRd/ifZsXnKCm0VkvOR8T8rkND3uttEWT5c3rzSbybNWH1kfyi1iBLF4Yu
      h9WMJ9oKunk75rzfLOSNkgehT9M7I6rhjnmTkFZGJXiL4jjSe2+Lgx7NvOs6GDzr
      GluWuhOfdeqS25akXHxymDa1mySnfvbK8P2ouIi22APN9kw+yms6lsLYptRiN+FQ
      tBePuqA64FW3Hdm38jz+YQrvJtimfHxKleOx7Nl0g3Rh/R1yqhdwANQf9BN/aQt+
      AyBlKkaRAgMBAAECggEADdKD2ajwAyLOqQl0FU/GQ99MehYqvqJ+ftch7D6dcFUh
      lOQpw5dcM+07BdebEYj0uyJnr79DImAhSxmgkmA6FCoSZZTY9umngm0W4P27ZZob
      Vc+w1bzCNY66yTMT1JfIvP0scT43v+BxhRuQrlNmAsatplBs8fk/Jcq2cd/f1JNU
      HAZMvdsuNYODDDa87cTAZGfV3SrRXjWn5+P2pJ863F1rSQFmOY8I4v60cJ8puPHL
      /maN3c7M/wuxak2FUINad/2c017f5+sP9XKZjMdWUlP+wBY8IrKO3Cqx/dMh7yBH
      KisUKwadHsQ2zl5LbznkrYTEr+kHsZcHGCPVQTrwFQKBgQD3/mSN4+ZO4sVidAU3
      x57J5siGsmwm5kaoGP3oq3vYMxnsBWlo/MURFo4OO7C9beTJMIlfkHiPPivofbzO
      N1BEU9bqbiRHSPCxSqBTcAkwy6o4zwi2ZvsTUu80hDG/q2+9b7FIH9vQp2zTLgvO
      xklCM0moGywP6QuEtSkbcnamPQKBgQDCyTnZwrtlYGCaWpWUucWJEPQCxRe1D8m8
      hMv+Nmy+6uy13HomxyjMsHz/Oaq2/lSbCsxH6mGo4Pqu4/pt4h0xsdVU8bRvbzaH
      s+1K0N8W5/ZYabP+nnMggzHW0RFz4tDK75+ZvRW0s14wH3J1KNkWAU0Ou9WeowFA
      R6z6iHD65QKBgBctWl58dzDWNtZdu4McD/YUsJcOI9d63A2n0Esng7qQBBMv6ksa
      nJxdPEeOQpVhqOk4tQ4OZYYVrGrdHYE0YDcSktp0EsXqxjv7moJRzToXPsBycQED
      HOIQdTS2SiP8tMPCpZH1EEku7JfMDOR1WbFrM64XZAXUpPPxLndXOkmNAoGAEAy0
      j5TUDA5c51r/aDnGZPzYnkHPKkQaw0XN6Sxi2XhR+Mop5ngSjIseQYlm350lK4FA
      Q8y0L04aWb6/K76t2SJmCZHA5E2tmJDixH9hYmnKio5rHle/9LXarXCcl4fg3FfS
      NsC1wSXmZOCydaTf/kgtKUGg4Gld+QXu4tXLOWECgYB+/Q7ZaVE9SrcDO2aTi1vA
      NPbFEsZAbkvg1+91+0A5WF9q0DvBjLXEp04NPDbwWNqQa2j0pwKeIIcA4+ZGTjxg
      PYt6Zknk2gdLl6QLQ4Ue5yle0Py6zbvGprv+sgl0ojs9fWsJT97PDvWCdRDXvI+E
      EK+cLIj1Tino3tJpUmgM9A==
      -----END PRIVATE KEY-----
      """,
    members:
      #""kty":"RSA","e":"AQAB","n":"vLG2-xHHnNv0a5AGHq5S0lE0uA8U_HQKyhvL3kYh1PhvxTjkibEYPPk9BWEdB5Y3pkLi_GlB2bM4k6cW-EwQ0Xf4n2bF5ygptFZLzkfE_K5DQ97rbRFk-XN680m8mzVh9ZH8otYgSxeGLofVjCfaCrp5O-a83yzkjZIHoU_TOyOq4Y55k5BWRiV4i-I40ntvi4MezbzrOhg86xpblroTn3XqktuWpFx8cpg2tZskp372yvD9qLiIttgDzfZMPsprOpbC2KbUYjfhULQXj7qgOuBVtx3Zt_I8_mEK7ybYpnx8SpXjsezZdIN0Yf0dcqoXcADUH_QTf2kLfgMgZSpGkQ""#
  )

  static let p256 = Pair(
    pem: """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHnOCk1q6fpLAMO2m
      VqcxE/msJfriyppT0CsmgZN7un+hRANCAAROCj/lIg1ksz8lBl2DUIQZVLQezbKv
      4j857c5lDbm97txj+I3xhAig86dWEuCsDtieNwQxsSrNCW/Uh5ntUXWo
      -----END PRIVATE KEY-----
      """,
    members:
      #""kty":"EC","crv":"P-256","x":"Tgo_5SINZLM_JQZdg1CEGVS0Hs2yr-I_Oe3OZQ25ve4","y":"3GP4jfGECKDzp1YS4KwO2J43BDGxKs0Jb9SHme1Rdag""#
  )

  /// What OpenSSL's command has signed with ``rsa``: "hello", by RS256 and by PS256.
  static let signatures = (
    rs256:
      "Rc_2e9J4CJZziaECism-pWnuLtKngjNasx2OrfJK6d2mIH5NJoM75m7XFt3Ax0bE9FUdEF-zixs5ncWrYPapxhfdUTEeTnsNX68dj-Rod3-taD76rstDGV-YOUXkZjxOwl1uGSehR93ZzzLhDPcFy6jFWvbgBxvLORNCG4FkVitkUzLl-QYhLHrl_80trIjJe9ngL1QMwpga__Y_h_H1gWBPcD0JzUccwANx1Doz3DyvSLqMgZabx4dtcz51Ur7DIZ008mzfRmWlYriER8Lh7PUtlBa3HdAIjVGoTVhUrEHLImTqzWpjP1NU9HQbmnPfngROMs8rJ6kW2VDAARUhDw",
    ps256:
      "XraT9MIrW4e2r5ea-v-p8OcmgFV25CzgJYMKoMWTwUppW1Ixd7ei9vdz_aFHfJW_Len1eY0yjxTL3oiygwluCz839bYTtH2E_Ij5XbpDsGwKuGM2yzMZ3BPSfrV5hwC-eAjipVXLygKKLkH8J_hCrTVACwA1d7fr_-XMtfMk5d0WBawuD_rHD9kU4bDidwLK4XzNhMGqwfTamP3kM49B2M0JRojzKVN5a6KlQ10ND6bZiFJYZivFIxIsxn8A222_kEqSC3U5IYLAocoJU0xBNwnFF8vCt8g1q2sukayUAzxSM2Z1YiZk0RHJC7P1YOHVHEeVsTz43W9qFjsx-xfotA"
  )
}
