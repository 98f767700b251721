// SPDX-License-Identifier: Apache-2.0

/// A form; each problem is shown beside its field.
struct EntryForm: Sendable {
    let action: String
    var isGet = false
    /// The path that takes the chosen file as the whole body; nil for a form of texts.
    var fileTo: String?
    var fields: [FormField]
    let button: String
    /// False for a form of a button only.
    let hasFields: Bool
    var isDanger = false
    var isQuiet = false
    /// The way back without a change.
    var cancel: String?
    /// A second button, which sends the form elsewhere.
    var other: OtherButton?

    struct OtherButton: Sendable {
        let otherAction: String
        let otherButton: String
    }

    init(
        _ action: String, _ fields: [FormField], button: String, isGet: Bool = false, isDanger: Bool = false,
        isQuiet: Bool = false, fileTo: String? = nil, cancel: String? = nil
    ) {
        self.action = action
        self.fields = fields
        self.button = button
        hasFields = fields.contains { !$0.isHidden }
        (self.isGet, self.isDanger, self.isQuiet) = (isGet, isDanger, isQuiet)
        (self.fileTo, self.cancel) = (fileTo, cancel)
        // Labels refer to identifiers, and a page can have several forms with a field of one name.
        let prefix = (fileTo ?? action).filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        for index in self.fields.indices { self.fields[index].fieldID = "\(prefix)-\(self.fields[index].fieldName)" }
    }

    var hasProblem: Bool { fields.contains { $0.fieldProblem != nil } }
}

/// One field of a form.
struct FormField: Sendable {
    let fieldName: String
    let fieldLabel: String
    fileprivate(set) var fieldID = ""
    var fieldValue = ""
    var fieldHint: String?
    var fieldProblem: String?
    var fieldType = "text"
    var isRequired = false
    var isTicked = false
    var choices: [Choice] = []
    var suggestions: [String] = []
    private(set) var isInput = false
    private(set) var isArea = false
    private(set) var isTick = false
    private(set) var isChoice = false
    private(set) var isHidden = false
    var hasSuggestions = false

    struct Choice: Sendable {
        let choiceValue: String
        let choiceText: String
        let isChosen: Bool
    }

    static func text(
        _ name: String, _ label: String, _ value: String = "", hint: String? = nil, type: String = "text",
        isRequired: Bool = false, suggestions: [String] = [], problem: String? = nil
    ) -> FormField {
        var field = FormField(fieldName: name, fieldLabel: label, isInput: true)
        (field.fieldValue, field.fieldHint, field.fieldType) = (value, hint, type)
        (field.isRequired, field.suggestions, field.fieldProblem) = (isRequired, suggestions, problem)
        field.hasSuggestions = !suggestions.isEmpty
        return field
    }

    static func area(
        _ name: String, _ label: String, _ value: String = "", hint: String? = nil, problem: String? = nil
    ) -> FormField {
        var field = FormField(fieldName: name, fieldLabel: label, isArea: true)
        (field.fieldValue, field.fieldHint, field.fieldProblem) = (value, hint, problem)
        return field
    }

    static func tick(_ name: String, _ label: String, _ isTicked: Bool, hint: String? = nil) -> FormField {
        var field = FormField(fieldName: name, fieldLabel: label, isTick: true)
        (field.isTicked, field.fieldHint) = (isTicked, hint)
        return field
    }

    static func choice(
        _ name: String, _ label: String, _ chosen: String, _ choices: [(value: String, text: String)],
        hint: String? = nil, problem: String? = nil
    ) -> FormField {
        var field = FormField(fieldName: name, fieldLabel: label, isChoice: true)
        field.choices = choices.map {
            Choice(choiceValue: $0.value, choiceText: $0.text, isChosen: $0.value == chosen)
        }
        (field.fieldHint, field.fieldProblem) = (hint, problem)
        return field
    }

    static func hidden(_ name: String, _ value: String) -> FormField {
        var field = FormField(fieldName: name, fieldLabel: "", isHidden: true)
        field.fieldValue = value
        return field
    }

    static func file(_ label: String, hint: String) -> FormField {
        var field = FormField.text("file", label, hint: hint, type: "file")
        field.isRequired = true
        return field
    }
}
