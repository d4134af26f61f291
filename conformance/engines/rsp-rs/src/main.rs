//! rsp-rs behind the harness protocol; the notes in rsp-rs.toml say how. If it panics, the suite starts another process.

use std::collections::{BTreeMap, HashSet};
use std::sync::{mpsc::Receiver, Arc, Mutex};

use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::model::Quad;
use rsp_rs::{BindingWithTimestamp, CSPARQLWindow, QuadContainer, R2ROperator, RSPEngine};
use serde_json::{json, Value};

mod printed;

/// A query of the suite, registered.
struct Case {
    windows: BTreeMap<String, Arc<Mutex<CSPARQLWindow>>>, // by the stream's name
    rows: Receiver<BindingWithTimestamp>,
    latest: i64,
    longest: i64,
}

type Reports = Result<Vec<Value>, String>; // an error is the reason why something is unsupported

fn main() {
    let mut case = None;
    for line in std::io::stdin().lines() {
        let command: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let reports = match command["command"].as_str().unwrap_or_default() {
            "register" => register(&command, &mut case),
            "push" => push(&command, case.as_mut().expect("a query")),
            "end" => Ok(end(case.as_ref().expect("a query"))),
            _ => Ok(vec![]), // of `advance`, too: the engine knows no time but that of an element
        };
        let mut reply = match reports {
            Ok(reports) => json!({"reply": "result", "relations": reports}),
            Err(reason) => json!({"reply": "unsupported", "reason": reason}),
        };
        if command["command"] == "start" {
            reply = json!({"reply": "result", "protocol": 1, "engine": "rsp-rs", "version": "0.3.5"});
        }
        reply["seq"] = command["seq"].clone();
        println!("{reply}");
        if command["command"] == "stop" {
            return;
        }
    }
}

fn register(command: &Value, case: &mut Option<Case>) -> Reports {
    let mut engine = RSPEngine::new(command["query"].as_str().expect("a query").into());
    let sparql = R2ROperator::new(engine.parsed_query().sparql_query.clone());
    let refusal = "its SPARQL evaluator, which the engine does not ask before, says";
    sparql.execute(&QuadContainer::new(HashSet::new(), 0)).map_err(|error| format!("{refusal}: {error}"))?;
    for quad in quads(command["static"].as_str().unwrap_or_default(), "static") {
        engine.add_static_data(quad);
    }
    engine.initialize().expect("windows");
    let mut windows = BTreeMap::new();
    let mut longest = 0;
    for window in &engine.parsed_query().s2r {
        let input = engine.get_window(&window.window_name).expect("a window");
        // as in its `initialize`: of two windows on one stream the second gets the elements
        windows.insert(window.stream_name.clone(), input);
        longest = longest.max(window.width + window.slide);
    }
    *case = Some(Case { windows, rows: engine.start_processing(), latest: 0, longest });
    Ok(vec![])
}

fn push(command: &Value, case: &mut Case) -> Reports {
    let at = command["at"].as_i64().expect("an instant");
    let stream = command["stream"].as_str().unwrap_or_default();
    let Some(window) = case.windows.get(stream) else {
        return Ok(vec![]); // the query does not name it
    };
    if command["end"].as_i64().is_some_and(|end| end != at) {
        return Err("its elements have an instant, and no interval".into());
    }
    let triples = quads(command["graph"].as_str().unwrap_or_default(), stream);
    if triples.is_empty() {
        return Err("its elements are triples; this one has none".into());
    }
    case.latest = case.latest.max(at);
    Ok(triples.into_iter().filter_map(|triple| give(case, window, triple, at)).collect())
}

/// Close each stream as the engine's documentation asks for: by its sentinel, at an instant past every window.
fn end(case: &Case) -> Vec<Value> {
    let past = case.latest + 2 * case.longest;
    let sentinel = quads("<urn:rsp:sentinel> <urn:rsp:type> \"end\" .", "").remove(0);
    case.windows.values().filter_map(|window| give(case, window, sentinel.clone(), past)).collect()
}

/// Give a window one triple, and return the report of the rows that the engine finds, if it finds any.
fn give(case: &Case, window: &Mutex<CSPARQLWindow>, triple: Quad, at: i64) -> Option<Value> {
    window.lock().expect("a window").add(triple, at);
    let rows: Vec<Value> = case.rows.try_iter().map(|row| printed::row(&row.bindings)).collect();
    (!rows.is_empty()).then(|| json!({"rows": rows}))
}

/// Return the quads of a text. Labels of blank nodes are those of their stream.
fn quads(text: &str, stream: &str) -> Vec<Quad> {
    let scope = stream.replace(|c: char| !c.is_alphanumeric(), "_");
    let own = |term: &str| match term.strip_prefix("_:") {
        Some(label) => format!("_:{scope}_{label}"),
        None => term.to_string(),
    };
    // a line has a subject, a predicate, and an object with what follows it
    let lines = text.lines().map(|line| line.splitn(3, ' ').map(own).collect::<Vec<_>>().join(" ") + "\n");
    let parser = RdfParser::from_format(RdfFormat::NQuads);
    parser.for_slice(lines.collect::<String>().as_bytes()).map(|quad| quad.expect("N-Quads")).collect()
}
