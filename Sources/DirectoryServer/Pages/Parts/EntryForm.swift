// SPDX-License-Identifier: Apache-2.0

/// A form; each problem is shown beside its field.
struct EntryForm: Sendable {
    let action: String
    var isGet = false
    /// True for a form with a field for a file.
    let hasFile: Bool
    var fields: [FormField]
    let button: String
    /// False for a form of a button only.
    let hasFields: Bool
    var isDanger = false
    var isQuiet = false
    /// True for a search of many fields, which a phone shows folded.
    let isFolded: Bool
    /// True for a folded form with a problem.
    let isUnfolded: Bool
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
        isQuiet: Bool = false, cancel: String? = nil
    ) {
        self.action = action
        self.fields = fields
        self.button = button
        hasFields = fields.contains { !$0.isHidden }
        (self.isGet, self.isDanger, self.isQuiet) = (isGet, isDanger, isQuiet)
        isFolded = isGet && fields.count { !$0.isHidden } > 3
        isUnfolded = fields.contains { $0.fieldProblem != nil }
        (hasFile, self.cancel) = (fields.contains { $0.fieldType == "file" }, cancel)
        // Labels refer to identifiers, and a page can have several forms with a field of one name.
        let prefix = action.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        for index in self.fields.indices { self.fields[index].fieldID = "\(prefix)-\(self.fields[index].fieldName)" }
    }
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
    private(set) var isPictures = false
    /// The media types of a file; nil for any.
    private(set) var fieldAccepts: String?
    private(set) var isHidden = false
    var hasSuggestions = false

    struct Choice: Sendable {
        let choiceValue: String
        let choiceText: String
        let isChosen: Bool
        /// The address of a picture beside the text.
        let choicePicture: String?

        init(choiceValue: String, choiceText: String, isChosen: Bool, picture: String? = nil) {
            (self.choiceValue, self.choiceText, self.isChosen) = (choiceValue, choiceText, isChosen)
            choicePicture = picture
        }
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

    /// One of several values, each with a picture or without.
    static func pictures(
        _ name: String, _ label: String, _ choices: [Choice], problem: String? = nil
    ) -> FormField {
        var field = FormField(fieldName: name, fieldLabel: label, isPictures: true)
        (field.choices, field.fieldProblem) = (choices, problem)
        return field
    }

    /// - Parameter accepts: media types that the browser offers; the server checks the bytes.
    static func file(
        _ name: String, _ label: String, hint: String, accepts: String? = nil, isRequired: Bool = false,
        problem: String? = nil
    ) -> FormField {
        var field = FormField.text(name, label, hint: hint, type: "file", isRequired: isRequired, problem: problem)
        field.fieldAccepts = accepts
        return field
    }
}
