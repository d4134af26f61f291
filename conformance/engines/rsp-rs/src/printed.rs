//! Reading the text that the engine makes of a row: what Rust's Debug prints.

use serde_json::{json, Map, Value};

/// Return the row that the engine prints as `{Variable { name: "x" }: NamedNode(NamedNode { iri: "urn:a" }), …}`.
pub fn row(printed: &str) -> Value {
    let mut row = Map::new();
    let mut rest = printed;
    while let Some((_, after)) = rest.split_once("Variable { name: ") {
        let (name, after) = string(after);
        let (kind, after) = after.trim_start_matches(" }: ").split_once('(').expect("a term");
        let (value, mut after) = match after.strip_prefix("BlankNode(Anonymous { id: [").and_then(|rest| rest.split_once(']')) {
            Some((numbers, behind)) => (numbers.replace(", ", "_"), behind), // a node that the query made
            None => string(after),
        };
        let kind = if kind == "NamedNode" {
            "uri"
        } else if kind == "BlankNode" {
            "bnode"
        } else {
            "literal"
        };
        let mut term = json!({"type": kind, "value": value});
        for (key, label) in [("xml:lang", ", language: "), ("datatype", ", datatype: NamedNode { iri: ")] {
            if let Some(found) = after.strip_prefix(label) {
                let (value, behind) = string(found);
                term[key] = value.into();
                after = behind;
            }
        }
        row.insert(name, term);
        rest = after;
    }
    Value::Object(row)
}

/// Return the first string that Rust's Debug has printed here, and what follows it.
fn string(printed: &str) -> (String, &str) {
    let mut rest = printed[printed.find('"').expect("a string") + 1..].chars();
    let mut value = String::new();
    loop {
        value.push(match rest.next().expect("the end of a string") {
            '"' => return (value, rest.as_str()),
            '\\' => match rest.next().expect("an escape") {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                'u' => {
                    let (digits, after) = rest.as_str()[1..].split_once('}').expect("an escape");
                    rest = after.chars();
                    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).expect("a character")
                }
                other => other,
            },
            other => other,
        });
    }
}
