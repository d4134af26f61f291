//! Reading the text that the engine makes of a row: what Rust's Debug prints.

use regex::{Captures, Regex};
use serde_json::{json, Value};
use std::sync::LazyLock;

/// A label with its text, such as `iri: "urn:a"`. A blank node that the query made has numbers, such as `id: [1, 2]`.
const LABELLED: &str = r#"(datatype: NamedNode \{ iri|\w+)(?:: |\()(?:"((?:[^"\\]|\\.)*)"|\[(.*?)\])"#;
static LABELLED_TEXT: LazyLock<Regex> = LazyLock::new(|| Regex::new(LABELLED).expect("a pattern"));
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\(?:u\{(\w+)\}|.)").expect("a pattern"));

/// Return the row that the engine prints as `{Variable { name: "x" }: NamedNode(NamedNode { iri: "urn:a" }), …}`.
pub fn row(printed: &str) -> Value {
    let mut row = json!({});
    let mut name = String::new();
    for found in LABELLED_TEXT.captures_iter(printed) {
        let text = found.get(2).or(found.get(3)).expect("a text").as_str();
        let text = ESCAPE.replace_all(text, unescaped).into_owned();
        match &found[1] {
            "name" => name = text,
            "iri" => row[&name] = json!({"type": "uri", "value": text}),
            "Named" | "id" | "IdStr" => row[&name] = json!({"type": "bnode", "value": text.replace(", ", "_")}),
            "language" => row[&name]["xml:lang"] = text.into(),
            "datatype: NamedNode { iri" => row[&name]["datatype"] = text.into(),
            _ => row[&name] = json!({"type": "literal", "value": text}),
        }
    }
    row
}

/// Return the character that Rust's Debug has escaped, as in `\n` or `\u{301}`.
fn unescaped(escape: &Captures) -> String {
    if let Some(digits) = escape.get(1) {
        let number = u32::from_str_radix(digits.as_str(), 16).expect("a number");
        return char::from_u32(number).expect("a character").into();
    }
    let json = format!("\"{}\"", &escape[0]);
    serde_json::from_str(&json).unwrap_or("\0".into()) // the only one that is no escape of JSON
}
