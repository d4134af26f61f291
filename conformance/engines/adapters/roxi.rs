//! RoXi behind the harness protocol: compile it with RoXi's library (`minimal`), and with spargebra and serde_json.
//!
//! The engine runs in one thread. It has one window, and gets its sizes, its operator and its SPARQL apart from each other, as
//! the suite's table has them. Of the body it makes a plan. A plan with a hole (`Done`) gives no rows: the engine does not have
//! what the body asks for. An element is given triple by triple; what the engine finds while it takes a triple is one report.
//! `end` gives a triple with a predicate of its own, at an instant past every window: only elements tell the engine the time.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

use minimal::rsp::r2s::StreamOperator;
use minimal::rsp::s2r::WindowTriple;
use minimal::rsp::{OperationMode, RSPBuilder, RSPEngine, ResultConsumer, SimpleR2R};
use minimal::sparql::{eval_query, Binding};
use minimal::{tripleindex::TripleIndex, TripleStore};
use serde_json::{json, Value};

const SENTINEL: &str = "<urn:conformance:end> <urn:conformance:end> <urn:conformance:end> .";
const PLANS: &str = "its plans have triple patterns, FILTER by <, <=, > or >= with an integer, COUNT and SUM";

extern "C" {
    fn dup2(old: i32, new: i32) -> i32;
}

/// A query of the suite, registered.
struct Case {
    engine: RSPEngine<WindowTriple, Vec<Binding>>,
    rows: Arc<Mutex<Vec<Value>>>,
    stream: String,
    latest: usize,
    longest: usize,
}

fn main() {
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned().expect("standard output"));
    unsafe { dup2(2, 1) }; // what the engine prints goes to standard error
    let mut case = None;
    for line in io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let mut reply = match catch_unwind(AssertUnwindSafe(|| answer(&mut case, &command))) {
            Ok(Ok(reply)) => reply,
            Ok(Err(reason)) => json!({"reply": "unsupported", "reason": reason}),
            Err(_) => json!({"reply": "error", "context": "the engine panicked; see its standard error"}),
        };
        reply["seq"] = command["seq"].clone();
        writeln!(output, "{reply}").expect("standard output");
        if command["command"] == "stop" {
            return;
        }
    }
}

fn answer(case: &mut Option<Case>, command: &Value) -> Result<Value, String> {
    match (text(&command["command"]), case) {
        ("start", _) => return Ok(json!({"reply": "result", "protocol": 1, "engine": "roxi", "version": "0.1.0"})),
        ("register", case) => *case = Some(register(command)?),
        ("push", Some(case)) => return push(case, command),
        ("end", Some(case)) => return Ok(relations(vec![give(case, SENTINEL, case.latest + 2 * case.longest)])),
        _ => (), // advance: the engine knows no time but that of an element
    }
    Ok(relations(vec![]))
}

fn register(command: &Value) -> Result<Case, String> {
    let table: Value = serde_json::from_str(text(&command["query"])).expect("a table");
    let windows = table["windows"].as_array().expect("windows");
    let [window] = windows.as_slice() else { return Err("it has one window".into()) };
    if window.get("name").is_some() {
        return Err("its window has no name".into());
    }
    let body = text(&table["body"]);
    let query = spargebra::Query::parse(body, None).map_err(|error| format!("its parser says: {error}"))?;
    let plan = catch_unwind(|| format!("{:?}", eval_query(&query, &TripleIndex::new())));
    plan.ok().filter(|plan| !plan.contains("Done")).ok_or(PLANS)?;
    let operator = match table["r2s"].as_str() {
        Some("Istream") => StreamOperator::ISTREAM,
        Some("Dstream") => StreamOperator::DSTREAM,
        _ => StreamOperator::RSTREAM,
    };
    let rows = Arc::new(Mutex::new(vec![]));
    let found = rows.clone();
    let consumer = move |row: Vec<Binding>| {
        found.lock().expect("rows").push(row.into_iter().map(|binding| (binding.var, term(&binding.val))).collect())
    };
    let [size, slide] = ["size", "slide"].map(|key| window[key].as_u64().expect("a number") as usize);
    let engine = RSPBuilder::new(size, slide) // which reports when a window closes, by time
        .add_triples(command["static"].as_str().unwrap_or(""))
        .add_query(body)
        .add_consumer(ResultConsumer { function: Arc::new(consumer) })
        .add_r2r(Box::new(SimpleR2R { item: TripleStore::new() }))
        .add_r2s(operator)
        .set_operation_mode(OperationMode::SingleThread)
        .build();
    Ok(Case { engine, rows, stream: text(&window["stream"]).into(), latest: 0, longest: size + slide })
}

fn push(case: &mut Case, command: &Value) -> Result<Value, String> {
    if text(&command["stream"]) != case.stream {
        return Ok(relations(vec![])); // the query does not name it
    }
    let at = command["at"].as_u64().ok_or("its instants are not negative")? as usize;
    if command.get("end").is_some_and(|end| *end != command["at"]) {
        return Err("its elements have an instant, and no interval".into());
    }
    let graph = text(&command["graph"]);
    if graph.trim().is_empty() {
        return Err("its elements are triples; this one has none".into());
    }
    case.latest = case.latest.max(at);
    Ok(relations(graph.lines().map(|line| give(case, line, at)).collect()))
}

/// Give the engine a line of N-Triples, and return the rows that it finds.
fn give(case: &mut Case, line: &str, at: usize) -> Vec<Value> {
    let mut terms = line.trim_end_matches([' ', '.']).splitn(3, ' ').map(String::from);
    let [s, p, o] = [(); 3].map(|()| terms.next().expect("a term"));
    case.engine.add(WindowTriple { s, p, o }, at);
    std::mem::take(&mut *case.rows.lock().expect("rows"))
}

/// Return a term of SPARQL's JSON. The engine writes literals and blank nodes of streams as `<"1">` and `<_:b>`, and a count as 1.
fn term(written: &str) -> Value {
    let inner = written.trim_start_matches('<');
    if let Some(label) = inner.strip_prefix("_:") {
        return json!({"type": "bnode", "value": label.trim_end_matches('>')});
    }
    let Some(close) = inner.rfind('"').filter(|_| inner.starts_with('"')) else {
        let integer = json!({"type": "literal", "value": inner, "datatype": "http://www.w3.org/2001/XMLSchema#integer"});
        return if inner == written { integer } else { json!({"type": "uri", "value": inner.trim_end_matches('>')}) };
    };
    let (value, kind) =
        (serde_json::from_str::<Value>(&inner[..=close]).expect("a string"), inner[close + 1..].trim_end_matches('>'));
    match (kind.strip_prefix('@'), kind.strip_prefix("^^<")) {
        (Some(tag), _) => json!({"type": "literal", "value": value, "xml:lang": tag}),
        (_, Some(datatype)) => json!({"type": "literal", "value": value, "datatype": datatype}),
        _ => json!({"type": "literal", "value": value}),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn relations(reports: Vec<Vec<Value>>) -> Value {
    let reports = reports.into_iter().filter(|rows| !rows.is_empty());
    json!({"reply": "result", "relations": reports.map(|rows| json!({"rows": rows})).collect::<Vec<_>>()})
}
