import Testing

@testable import PluginHost

/// The form in a manifest, and what it takes.
@Suite(.timeLimit(.minutes(2))) struct FormFieldTests {
  private func manifest(_ members: String) throws -> Manifest {
    try Manifest(json: Array("{\(members)}".utf8), name: "coupon", maximum: .maximum)
  }

  private func form(_ fields: String) throws -> [FormField] {
    try #require(try manifest(#""form":[\#(fields)]"#).form)
  }

  @Test func `reads fields with their labels, and what they leave out is usual`() throws {
    let read = try manifest(
      """
      "label": {"en": "Coupon", "de": "Gutschein"}, "form": [
        {"name": "code", "label": "Code", "required": true, "example": "SAVE10"},
        {"name": "part", "kind": "number", "minimum": 0.5, "maximum": 100, "example": 20},
        {"name": "place", "kind": "choice", "choices":
          ["shop", {"value": "web", "label": {"en": "Online", "de": "Im Netz"}}], "example": "web"},
        {"name": "once", "kind": "boolean", "example": false}, {"name": "terms", "kind": "longtext"}]
      """)
    #expect(read.label == ["en": "Coupon", "de": "Gutschein"])
    let fields = try #require(read.form)
    #expect(fields.map(\.name) == ["code", "part", "place", "once", "terms"])
    #expect(fields.map(\.kind) == [.text, .number, .choice, .boolean, .longtext])
    #expect(fields.map(\.isRequired) == [true, false, false, false, false])
    #expect(fields.map(\.maxLength) == [200, nil, nil, nil, 2000])
    #expect(fields[0].label == ["en": "Code"] && fields[4].label == ["en": "terms"])
    #expect(fields[1].minimum == 0.5 && fields[1].maximum == 100)
    #expect(fields[1].example == .number(20) && fields[3].example == .bool(false))
    #expect(fields[2].choices.map(\.value) == ["shop", "web"])
    #expect(fields[2].choices.map(\.label) == [["en": "shop"], ["en": "Online", "de": "Im Netz"]])
    #expect(try manifest("").form == nil && manifest("").label.isEmpty)
  }

  @Test(arguments: [
    (#""form":{}"#, #""form" must be an array of 1 to 20"#), (#""form":[]"#, #""form" must"#),
    (#""form":["code"]"#, #""form[0]" must be an object"#),
    (#""form":[{}]"#, #""form[0].name" must be a letter"#),
    (#""form":[{"name":"a b"}]"#, #""form[0].name""#),
    (#""form":[{"name":"a"},{"name":"a"}]"#, #""form[1].name" is "a", as that of another"#),
    (#""form":[{"name":"a","colour":1}]"#, #""form[0].colour" is not a member"#),
    (#""form":[{"name":"a","kind":"picture"}]"#, #""form[0].kind" must be one of text"#),
    (#""form":[{"name":"a","kind":7}]"#, #""form[0].kind""#),
    (#""form":[{"name":"a","required":"yes"}]"#, #""form[0].required" must be true"#),
    (#""form":[{"name":"a","label":""}]"#, #""form[0].label" must be a line"#),
    (#""form":[{"name":"a","label":{"english":"A"}}]"#, #""form[0].label""#),
    (#""form":[{"name":"a","label":{}}]"#, #""form[0].label""#),
    (#""form":[{"name":"a","label":"x\ny"}]"#, #""form[0].label""#),
    (#""form":[{"name":"a","kind":"choice"}]"#, #""form[0].choices" must be an array"#),
    (#""form":[{"name":"a","choices":["x"]}]"#, #""form[0].choices" is for the kind choice"#),
    (#""form":[{"name":"a","kind":"choice","choices":["x","x"]}]"#, #""form[0].choices[1]""#),
    (#""form":[{"name":"a","kind":"choice","choices":[{"value":"x","l":1}]}]"#, "choices[0]"),
    (#""form":[{"name":"a","minimum":1}]"#, #""form[0].minimum""#),
    (#""form":[{"name":"a","kind":"number","minimum":2,"maximum":1}]"#, "above \"maximum\""),
    (#""form":[{"name":"a","kind":"number","maxLength":2}]"#, #""form[0].maxLength" is for"#),
    (#""form":[{"name":"a","maxLength":1001}]"#, #""form[0].maxLength" must be from 1 to 1000"#),
    (#""form":[{"name":"a","kind":"date","example":"1.2.2030"}]"#, #""form[0].example" must be a"#),
    (#""form":[{"name":"a","example":{}}]"#, #""form[0].example" must be a text"#),
    (#""label":7"#, #""label" must be a text"#),
  ])
  func `refuses a form that it does not understand and says where`(members: String, reason: String)
  {
    #expect {
      try manifest(members)
    } throws: { error in
      (error as? PluginProblem)?.description.contains(reason) == true
    }
  }

  @Test func `refuses a field too many`() throws {
    let fields = (0..<20).map { #"{"name":"f\#($0)"}"# }
    #expect(try form(fields.joined(separator: ",")).count == 20)
    #expect(throws: PluginProblem.self) {
      try form((fields + [#"{"name":"g"}"#]).joined(separator: ","))
    }
  }

  private static let taken: [(kind: String, right: [String], wrong: [String])] = [
    (
      #""kind":"text","maxLength":3"#, [#""""#, #""abc""#, #""éé1""#],
      [#""abcd""#, #""a\nb""#, "1"]
    ),
    (
      #""kind":"longtext","maxLength":4"#, [#""a\n\tb""#],
      [#""abcde""#, #""a\u0000""#, #""\u001b""#, "[]"]
    ),
    (
      #""kind":"number","minimum":1,"maximum":100"#, ["1", "100", "2.5", "1e2"],
      ["0.99", "101", #""5""#, "true"]
    ),
    (#""kind":"number""#, ["-1", "0"], [#""""#, "[1]"]),
    (
      #""kind":"date""#, [#""2030-12-24""#, #""2096-02-29""#, #""2000-02-29""#],
      [
        #""2030-02-29""#, #""1900-02-29""#, #""2030-13-01""#, #""2030-1-1""#, #""""#,
        #""2030-04-31""#,
      ]
    ),
    (
      #""kind":"url""#, [#""https://a""#, #""HTTP://shop.example/x?y#z""#],
      [#""ftp://a""#, #""https:///x""#, #""https://a b""#, #""javascript:x""#, #""https://a\n""#]
    ),
    (#""kind":"choice","choices":["a","b"]"#, [#""a""#], [#""c""#, #""A""#, "1", #""""#]),
    (#""kind":"boolean""#, ["true", "false"], [#""true""#, "1"]),
  ]

  @Test(arguments: taken)
  func `takes the values of each kind and no others`(
    kind: String, right: [String], wrong: [String]
  ) throws {
    let fields = try form(#"{"name":"a",\#(kind)}"#)
    for value in right + ["null"] {
      #expect(FormField.faults(in: #"{"a":\#(value)}"#, of: fields) == [], "\(value)")
    }
    for value in wrong {
      #expect(
        FormField.faults(in: #"{"a":\#(value)}"#, of: fields).map(\.name) == ["a"], "\(value)")
    }
  }

  @Test func `names all that is wrong`() throws {
    let fields = try form(
      #"{"name":"code","required":true},{"name":"part","kind":"number"},{"name":"x","required":true}"#
    )
    let faults = FormField.faults(in: #"{"part":"5","x":" ","more":1,"a b":2}"#, of: fields)
    #expect(faults.map(\.name) == ["code", "part", "x", nil, "more"])
    #expect(faults[0].rule == "is missing" && faults[1].rule == "must be a number")
    #expect(faults[2].rule == "is empty")
    #expect(faults[4].rule == "has no place here; there are: code, part, x")
    for payload in ["", "SAVE10", "[]", "null", #"{"code":"#, "{} x", #"{"part":1e999}"#] {
      #expect(FormField.faults(in: payload, of: fields).map(\.name) == [nil], "\(payload)")
    }
    let many = (0..<1000).map { #""m\#($0)":1"# }.joined(separator: ",")
    #expect(FormField.faults(in: "{\(many)}", of: fields).count == 12)
  }
}
